/** Whether this tab still speaks for the person whose page it shows, and a token with which it may send again. */

/** @typedef {"same" | "out" | "other" | "unreachable"} State */

/** @returns {string} a mark of the person whose page this is; empty where nobody is logged in */
const person = () => document.body.dataset.person || "";

/**
 * Ask who is logged in now. If it is still the person of this page, take the token of their session: after somebody
 * logged in again, in any tab, the one that the page came with is refused.
 * @returns {Promise<State>}
 */
export async function renew() {
  try {
    const response = await fetch("/session/", { headers: { Accept: "application/json" }, cache: "no-store" });
    if (!response.ok) return "unreachable";
    const said = await response.json();
    if (!said.person) return "out";
    if (said.person !== person()) return "other";
    for (const input of document.querySelectorAll("[name=csrfmiddlewaretoken]")) /** @type {HTMLInputElement} */ (input).value = said.token;
    return "same";
  } catch {
    return "unreachable";
  }
}

/**
 * @param {string | null} header `X-Session` of an answer: there if it was refused for the session alone
 * @returns {boolean}
 */
export const refused = (header) => Boolean(header && person());

/** @param {State | ""} state what keeps this page from sending, said in sight until it can; empty: nothing */
export function say(state) {
  const region = document.getElementById("session-says");
  if (!region) return;
  const shown = state === "same" ? "" : state;
  region.hidden = !shown;
  for (const text of region.querySelectorAll("[data-when]")) /** @type {HTMLElement} */ (text).hidden = /** @type {HTMLElement} */ (text).dataset.when !== shown;
}
