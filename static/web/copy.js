/** Adds a button to what people copy: a field or a command in an element with `data-copy`, which holds the button's words. */

/** @param {HTMLElement} place */
function addButton(place) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = place.dataset.copy || "";
  const said = document.createElement("span");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const field = place.querySelector("input");
    await navigator.clipboard.writeText(field ? field.value : (place.querySelector("code")?.textContent ?? ""));
    button.textContent = said.textContent = place.dataset.copied || "";
    window.setTimeout(() => {
      button.textContent = place.dataset.copy || "";
      said.textContent = "";
    }, 2000);
  });
  place.append(button, said);
}

function addButtons() {
  if (!navigator.clipboard) return; // on plain HTTP: people select the text themselves
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-copy]:not(:has(button))"))) addButton(place);
}

addButtons();
document.addEventListener("htmx:load", addButtons);
