/** One key presses one control; typing in a field stays typing. */
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.altKey || event.ctrlKey || event.metaKey || target.matches("textarea, select, input:not([type=checkbox])")) return;
  const control = /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${CSS.escape(event.key)}"]`));
  if (!control) return;
  event.preventDefault();
  control.click();
});
