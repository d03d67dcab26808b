/** On the item page: show the box that an annotation chose. */
for (const button of document.querySelectorAll("[data-show-box]")) {
  button.addEventListener("click", () => {
    for (const shown of document.querySelectorAll(".is-current")) shown.classList.remove("is-current");
    const index = /** @type {HTMLElement} */ (button).dataset.showBox;
    const box = document.querySelector(`[data-box="${index}"]`);
    box?.classList.add("is-current");
    box?.scrollIntoView({ block: "center" });
  });
}
