/** What a tab keeps until it is closed. In another site's frame browsers may refuse to keep anything: then nothing is kept. */

/**
 * @param {string} key
 * @returns {any} what was kept, or null
 */
export function kept(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) || "null");
  } catch {
    return null;
  }
}

/**
 * @param {string} key
 * @param {any} value null: keep it no longer
 */
export function keep(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The page still has it.
  }
}
