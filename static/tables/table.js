/** Tables with boxes to tick: all at once, a range with Shift, and how many are ticked. */

for (const form of document.querySelectorAll("form[data-table]")) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=row]")]);
  const all = /** @type {HTMLInputElement | null} */ (form.querySelector("input[data-all]"));
  const count = /** @type {HTMLElement | null} */ (form.querySelector("[data-ticked]"));
  if (!all || !count || boxes.length === 0) continue;
  let latest = -1;

  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
    count.textContent = ticked ? `${count.dataset.words} ${ticked}` : "";
  };

  all.hidden = false; // without this script it would do nothing
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  boxes.forEach((box, number) => {
    box.addEventListener("click", (event) => {
      if (event.shiftKey && latest >= 0) {
        const [from, to] = [Math.min(latest, number), Math.max(latest, number)];
        for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
      }
      latest = number;
      show();
    });
  });
  show(); // a page that comes back from the history keeps its ticks
}
