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
  keep(event) {
    const form = event.detail.requestConfig.elt;
    const button = event.detail.requestConfig.triggeringEvent?.submitter;
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
