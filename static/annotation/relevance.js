/** The flowchart: y and n walk its steps; a label can be chosen at any time. */
export class Relevance {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {HTMLElement[]} */
    this.steps = [...root.querySelectorAll("[data-step]")].map((step) => /** @type {HTMLElement} */ (step));
    this.at = 0;
    root.addEventListener("click", (event) => {
      const yes = /** @type {Element} */ (event.target).closest("[data-yes][type=button]");
      if (yes) this.go(this.steps.findIndex((step) => step.contains(yes)) + 1, true);
    });
    this.go(0, false);
  }

  focus() {
    /** @type {HTMLElement | null} */ (this.root.querySelector("#question"))?.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey) return false;
    if (event.key === "b") return this.go(Math.max(0, this.at - 1), true);
    const which = { y: "[data-yes]", n: "[data-no]" }[event.key];
    if (!which) return false;
    /** @type {HTMLElement | null} */ (this.steps[this.at]?.querySelector(which))?.click();
    return true;
  }

  /**
   * @param {number} number the step to stand at
   * @param {boolean} focus whether to move there
   */
  go(number, focus) {
    this.at = number;
    this.steps.forEach((step, index) => {
      step.toggleAttribute("data-later", index > number);
      if (index === number) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    if (focus) /** @type {HTMLElement | null} */ (this.steps[number]?.querySelector("button"))?.focus();
    return true;
  }
}
