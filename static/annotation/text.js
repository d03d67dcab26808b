/** Messages in the person's language, from Django's catalogue. */

/**
 * @param {string} message
 * @returns {string}
 */
export function _(message) {
  const catalogue = /** @type {any} */ (globalThis).gettext;
  return typeof catalogue === "function" ? catalogue(message) : message;
}

/** @param {string} text said to a screen reader, shown nowhere */
export function announce(text) {
  const region = document.getElementById("announce");
  if (region) region.textContent = text;
}

/** @param {string} text what happened, in sight until the next one */
export function showProblem(text) {
  const region = document.getElementById("problem");
  if (!region) return;
  region.className = text ? "toast" : "";
  region.textContent = text;
}
