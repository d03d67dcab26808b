/** "/" and Ctrl-K lead to the search field of a campaign's pages. */

const TYPING = "input, textarea, select, [contenteditable]";

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it asks for the search
 */
function asksForSearch(event) {
  if (event.defaultPrevented || event.altKey) return false;
  if ((event.ctrlKey || event.metaKey) && event.key === "k") return true;
  const target = /** @type {Element} */ (event.target);
  return event.key === "/" && !event.ctrlKey && !event.metaKey && !target.closest(TYPING);
}

document.addEventListener("keydown", (event) => {
  if (!asksForSearch(event)) return;
  for (const field of document.querySelectorAll("[data-search-field]")) {
    if (!(field instanceof HTMLInputElement) || !field.checkVisibility()) continue;
    event.preventDefault();
    field.select();
    return;
  }
});
