import { _, showProblem } from "./text.js";

const AGAIN_MS = 4000;

/** What could not be sent for want of a connection is sent as soon as there is one, unless something else is done. */
export class Outbox {
  constructor() {
    /** @type {(() => void) | null} */
    this.send = null;
    this.isResending = this.wasResent = false;
    this.timer = 0;
    window.addEventListener("online", () => this.again());
  }

  /** @param {CustomEvent} event of htmx, whose request did not reach the server or whose answer did not reach us */
  failed(event) {
    const { elt, triggeringEvent } = event.detail.requestConfig;
    this.keep(elt, triggeringEvent?.submitter);
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
  }

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement | null | undefined} button
   */
  keep(form, button) {
    this.send = () => form.isConnected && form.requestSubmit(button?.isConnected ? button : undefined);
    showProblem(_("No connection. Your answer is kept here and is sent as soon as there is one. Keep this page open."));
    this.timer = window.setTimeout(() => this.again(), AGAIN_MS);
  }

  again() {
    if (!this.send) return;
    this.isResending = true;
    this.send();
  }

  /** A request is under way: whatever it is, it is what counts now. */
  began() {
    clearTimeout(this.timer);
    this.send = null;
    this.wasResent = this.isResending;
    this.isResending = false;
  }
}
