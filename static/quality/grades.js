/** A form of several parts to grade: a number grades the part at hand and goes on, Enter hands in when all are done. */

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-grades]"));
const parts = /** @type {HTMLElement[]} */ ([...(form?.querySelectorAll("[data-part]") ?? [])]);

/** @param {HTMLElement} part */
const isGraded = (part) => part.querySelector("input:checked") !== null;

/** The part that a number key grades: the one that has the focus, else the first without a grade. */
function partAtHand() {
  const focused = document.activeElement?.closest("[data-part]");
  return parts.find((part) => part === focused) ?? parts.find((part) => !isGraded(part)) ?? null;
}

/** @param {HTMLElement} part */
function moveOn(part) {
  const next = parts.slice(parts.indexOf(part) + 1).find((one) => !isGraded(one)) ?? parts.find((one) => !isGraded(one));
  const target = /** @type {HTMLElement | null} */ (next?.querySelector("input") ?? form?.querySelector("button.primary") ?? null);
  target?.focus();
  target?.closest(".part")?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (!form || event.altKey || event.ctrlKey || event.metaKey || target.matches("textarea, select")) return;
  const part = partAtHand();
  const choice = /** @type {HTMLInputElement | null} */ (
    part?.querySelector(`[data-grade="${CSS.escape(event.key)}"]`) ?? null
  );
  if (part && choice) {
    event.preventDefault();
    choice.checked = true;
    moveOn(part);
  } else if (event.key === "Enter" && parts.length && !target.matches("button, a")) {
    event.preventDefault();
    form.requestSubmit();
  }
});
