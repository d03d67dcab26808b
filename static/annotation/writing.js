import { start } from "./desk.js";
import { _, announce, showProblem } from "./text.js";

/** A text that is written: kept as a draft while it grows, with what there is to say of it. */
class Writing {
  /**
   * @param {HTMLElement} root
   * @param {import("./draft.js").Draft} draft
   */
  constructor(root, draft) {
    this.root = root;
    this.draft = draft;
    this.refused = false;
    this.composing = false;
    this.text = /** @type {HTMLTextAreaElement | null} */ (root.querySelector("[data-text]"));
    this.list = root.querySelector("[data-remarks]");
    root.addEventListener("change", (event) => this.chose(event));
    root.addEventListener("draft-kept", (event) => this.told(/** @type {CustomEvent} */ (event).detail.remarks || []));
    if (!this.text) return;
    const text = this.text;
    // An input method sends pieces of a word before it is one: nothing is kept or judged until it is chosen.
    text.addEventListener("compositionstart", () => (this.composing = true));
    text.addEventListener("compositionend", () => {
      this.composing = false;
      this.wrote();
    });
    text.addEventListener("input", () => this.composing || this.wrote());
    text.addEventListener("keydown", (event) => this.typed(event));
    for (const kind of ["paste", "drop"]) text.addEventListener(kind, (event) => this.pasted(event));
    text.form?.addEventListener("submit", (event) => this.hold(event), true);
    if (!text.value) text.value = draft.unsent()?.question || "";
  }

  focus() {
    const first = this.root.dataset.stage === "write" ? this.text : this.root.querySelector("#question");
    /** @type {HTMLElement | null} */ (first)?.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || this.root.dataset.stage !== "review") return false;
    const there = { 2: this.text, 3: this.root.querySelector("[data-reject]") }[event.key];
    /** @type {HTMLElement | null | undefined} */ (there)?.focus();
    return Boolean(there);
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.text?.form?.requestSubmit();
    } else if (event.key === "Escape") {
      /** @type {HTMLElement | null} */ (this.root.querySelector("#question"))?.focus();
    }
  }

  wrote() {
    const decision = /** @type {HTMLInputElement | null} */ (this.text?.form?.querySelector("[name=decision]"));
    this.refused = false;
    this.draft.save({ question: this.text?.value || "", ...(decision ? { decision: decision.value } : {}) });
  }

  /** @param {Event} event */
  chose(event) {
    const choice = /** @type {HTMLInputElement} */ (event.target);
    if (choice.matches("[data-choice]")) this.draft.save({ [choice.name]: choice.value });
  }

  /** @param {Event} event */
  pasted(event) {
    if (!this.text?.hasAttribute("data-no-paste")) return;
    event.preventDefault();
    showProblem(_("Pasting is turned off here. Please write in your own words."));
  }

  /** @param {{text: string, refuses: boolean}[]} remarks the refusals first */
  told(remarks) {
    this.refused = remarks.some((remark) => remark.refuses);
    this.list?.replaceChildren(
      ...remarks.map((remark) => {
        const line = document.createElement("li");
        line.className = remark.refuses ? "bad" : "warn";
        line.textContent = remark.text;
        return line;
      }),
    );
  }

  /** @param {SubmitEvent} event */
  hold(event) {
    if (!this.refused && !this.composing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    announce(this.list?.firstElementChild?.textContent || "");
    this.text?.focus();
  }
}

start({ pick: Writing, write: Writing, review: Writing, recover: Writing });
