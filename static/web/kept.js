import { refused, renew, say } from "./session.js";
import { keep, kept } from "./tab.js";

const WAIT_MS = 300;
const AGAIN_MS = 4000;
const LEFT_OUT = ["csrfmiddlewaretoken"];

/**
 * Keeps in this tab what is typed into a long form, until the server has it: a session may end, a server may be away,
 * and another person may log in meanwhile, who finds nothing of it.
 */
class KeptForm {
  /**
   * @param {HTMLFormElement} form
   * @param {number} number of the form on its page
   */
  constructor(form, number) {
    this.form = form;
    const about = form.dataset.about ?? ""; // where one address shows one thing after another
    this.key = `quorate:form:${document.body.dataset.person}:${location.pathname}:${about}:${number}`;
    this.timer = this.again = 0;
    this.isSending = false;
    this.restore();
    form.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.keep(), WAIT_MS);
    });
    form.addEventListener("submit", (event) => this.submit(event));
    window.addEventListener("pagehide", () => this.timer && this.keep());
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.isSending = false; // somebody came back to the page as they had left it
    });
  }

  get fields() {
    return [...this.form.elements].filter((one) => {
      const field = /** @type {HTMLInputElement} */ (one);
      return field.name && !LEFT_OUT.includes(field.name) && !["file", "hidden", "password", "submit", "button"].includes(field.type);
    });
  }

  /** @returns {boolean} whether anything was written that the server did not write */
  get isTyped() {
    return this.fields.some((one) => {
      const field = /** @type {HTMLInputElement} */ (one);
      return field.matches("textarea, input:not([type=radio], [type=checkbox])") && field.value !== field.defaultValue;
    });
  }

  /** @param {boolean} isSent whether it is on its way */
  keep(isSent = false) {
    clearTimeout(this.timer);
    this.timer = 0;
    const values = this.fields.map((one) => {
      const field = /** @type {HTMLInputElement} */ (one);
      return ["radio", "checkbox"].includes(field.type) ? [field.name, field.value, field.checked] : [field.name, field.value];
    });
    keep(this.key, { values, isSent });
  }

  restore() {
    const before = kept(this.key);
    if (!before) return;
    const how = /** @type {PerformanceNavigationTiming | undefined} */ (performance.getEntriesByType("navigation")[0])?.type;
    keep(this.key, null);
    if (before.isSent && how !== "back_forward" && how !== "reload") return; // this page is the server's answer to it
    let isDifferent = false;
    this.fields.forEach((one, place) => {
      const field = /** @type {HTMLInputElement} */ (one);
      const [name, value, isChecked] = before.values[place] || [];
      if (name !== field.name) return;
      if (isChecked === undefined) {
        isDifferent ||= field.value !== value;
        field.value = value;
      } else if (field.value === value) {
        isDifferent ||= field.checked !== isChecked;
        field.checked = isChecked;
      }
    });
    if (!isDifferent) return;
    this.keep();
    const note = /** @type {HTMLTemplateElement | null} */ (document.getElementById("form-restored"))?.content.firstElementChild?.cloneNode(true);
    if (!note) return;
    /** @type {HTMLElement} */ (note).querySelector("button")?.addEventListener("click", () => {
      keep(this.key, null);
      location.reload();
    });
    this.form.prepend(note);
  }

  /** @param {SubmitEvent} event */
  async submit(event) {
    if (event.defaultPrevented) return;
    if (!this.isTyped) { // nothing can be lost; and what was chosen is no draft of the form that comes next
      clearTimeout(this.timer);
      this.timer = 0;
      keep(this.key, null);
      return;
    }
    event.preventDefault(); // until it is known that this person may still send it
    if (this.isSending) return; // a double click
    this.isSending = true;
    this.keep();
    await this.send(/** @type {HTMLElement | null} */ (event.submitter));
  }

  /** @param {HTMLElement | null} button */
  async send(button) {
    clearTimeout(this.again);
    const state = await renew();
    say(state);
    if (state !== "same") {
      this.again = window.setTimeout(() => this.send(button), AGAIN_MS);
      return;
    }
    this.keep(true);
    const more = button instanceof HTMLButtonElement && button.name ? [button.name, button.value] : null;
    if (more) {
      const input = Object.assign(document.createElement("input"), { type: "hidden", name: more[0], value: more[1] });
      this.form.append(input);
    }
    const action = button?.getAttribute("formaction");
    if (action) this.form.action = action;
    HTMLFormElement.prototype.submit.call(this.form);
  }
}

if (document.body.dataset.person) {
  const long = [...document.querySelectorAll("main form[method=post]")].filter((form) => form.querySelector("textarea") && !form.hasAttribute("hx-post") && !form.closest("[data-stage]"));
  long.forEach((form, number) => new KeptForm(/** @type {HTMLFormElement} */ (form), number));
}
document.addEventListener("htmx:responseError", async (event) => {
  const { xhr } = /** @type {CustomEvent} */ (event).detail;
  if (!document.getElementById("work") && refused(xhr.getResponseHeader("X-Session"))) say(await renew());
});
