import { renew, say } from "../web/session.js";
import { keep, kept } from "../web/tab.js";
import { _, showProblem } from "./text.js";

const AGAIN_MS = 4000;
const OF_THE_PAGE = ["csrfmiddlewaretoken", "version", "active_seconds", "sequence", "events"]; // newer on the page that sends it again

/**
 * What could not be sent, for want of a connection or of the session that it belongs to, is sent as soon as it can be,
 * unless something else is done. It is also kept in this tab, for the page that comes after logging in again.
 */
export class Outbox {
  constructor() {
    /** @type {(() => void) | null} */
    this.send = null;
    this.isResending = this.wasResent = this.isLocked = false;
    this.timer = 0;
    this.key = "";
    window.addEventListener("online", () => this.again());
  }

  /** @param {CustomEvent} event of htmx, whose request did not reach the server or whose answer did not reach us */
  failed(event) {
    const { elt, triggeringEvent } = event.detail.requestConfig;
    this.keep(elt, triggeringEvent?.submitter);
    showProblem(_("No connection. Your answer is kept in this browser and will be sent once you're back online. Keep this page open."));
  }

  /** @param {CustomEvent} event of htmx, whose request was refused for the session alone */
  async refused(event) {
    const { elt, triggeringEvent } = event.detail.requestConfig;
    this.keep(elt, triggeringEvent?.submitter);
    this.isLocked = true;
    await this.again();
  }

  /**
   * Without a connection the browser would leave the page for one of its own: keep what a plain form sends, too.
   * @param {SubmitEvent} event
   */
  submitted(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (navigator.onLine || form.hasAttribute("hx-post") || form.method === "dialog") return;
    event.preventDefault();
    this.began();
    this.keep(form, event.submitter);
    showProblem(_("No connection. Your answer is kept in this browser and will be sent once you're back online. Keep this page open."));
  }

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement | null | undefined} button
   */
  keep(form, button) {
    this.send = () => form.isConnected && form.requestSubmit(button?.isConnected ? button : undefined);
    this.timer = window.setTimeout(() => this.again(), AGAIN_MS);
    const root = /** @type {HTMLElement | null} */ (form.closest("[data-stage]"));
    if (!root || !(form instanceof HTMLFormElement)) return;
    const fields = [...new FormData(form)].filter(([name, value]) => !OF_THE_PAGE.includes(name) && typeof value === "string");
    const pressed = button instanceof HTMLButtonElement ? [button.name, button.value] : null;
    keep(Outbox.key(root), { action: form.getAttribute("action"), fields, pressed });
  }

  async again() {
    if (!this.send) return;
    clearTimeout(this.timer);
    if (this.isLocked) {
      const state = await renew();
      say(state);
      if (state !== "same") {
        this.timer = window.setTimeout(() => this.again(), AGAIN_MS);
        return;
      }
      this.isLocked = false;
    }
    this.isResending = true;
    this.send?.();
  }

  /** A request is under way: whatever it is, it is what counts now. */
  began() {
    clearTimeout(this.timer);
    this.send = null;
    this.wasResent = this.isResending;
    this.isResending = false;
  }

  /**
   * What this tab could not send of a stage before is sent now; what belonged to the one before has arrived.
   * @param {HTMLElement | null} root the stage that is shown
   */
  shown(root) {
    const key = root ? Outbox.key(root) : "";
    if (this.key && this.key !== key) keep(this.key, null);
    this.key = key;
    if (!root) return;
    const unsent = kept(key);
    keep(key, null);
    const form = unsent && [...root.querySelectorAll("form")].find((one) => one.getAttribute("action") === unsent.action && holds(one, unsent.pressed));
    if (form) window.setTimeout(() => submit(form, unsent));
  }

  /** @param {HTMLElement} root */
  static key(root) {
    return `quorate:unsent:${root.dataset.assignment}:${root.dataset.stage}`;
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {[string, string] | null} pressed name and value of a button
 */
const holds = (form, pressed) =>
  !pressed?.[0] || [...form.querySelectorAll("button")].some((one) => one.name === pressed[0] && one.value === pressed[1]);

/**
 * Fill a form in as it was, and send it.
 * @param {HTMLFormElement} form
 * @param {{fields: [string, string][], pressed: [string, string] | null}} unsent
 */
function submit(form, unsent) {
  for (const [name, value] of unsent.fields) {
    for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      const input = /** @type {HTMLInputElement} */ (field);
      if (["radio", "checkbox"].includes(input.type)) input.checked = input.checked || input.value === value;
      else if (!(field instanceof HTMLButtonElement)) input.value = value;
    }
  }
  if (unsent.pressed?.[0]) {
    // htmx knows which button was pressed from its click, which there is none of.
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: unsent.pressed[0], value: unsent.pressed[1] }));
  }
  form.requestSubmit();
}
