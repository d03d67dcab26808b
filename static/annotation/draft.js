import { refused, renew, say } from "../web/session.js";
import { keep, kept } from "../web/tab.js";
import { _, showProblem } from "./text.js";

const WAIT_MS = 500;
const RETRY_MS = 4000;
const MOST_RETRY_MS = 60_000;

/** Keeps on the server what is marked but not yet confirmed, and says whether it is kept. */
export class Draft {
  /** @param {HTMLElement} root the stage */
  constructor(root) {
    this.root = root;
    this.url = root.dataset.draftUrl || "";
    this.note = root.querySelector("[data-saved]");
    this.timer = 0;
    /** @type {Record<string, string> | null} */
    this.waiting = null;
    this.sending = Promise.resolve();
    this.isLocked = false; // out of the session that this page was made for: what is typed waits here
    this.retryMs = RETRY_MS;
    this.leaving = false; // then the next page may have been made before the server had the last mark: it looks here
    // Until the server has it, a mark is also kept here: a reload can be quicker than its request.
    this.key = `quorate:${root.dataset.assignment}:${root.dataset.stage}`;
  }

  /** @returns {Record<string, string> | null} what this tab marked and the server may not have yet */
  unsent() {
    return kept(this.key);
  }

  /** @param {Record<string, string>} fields */
  save(fields) {
    this.waiting = fields;
    keep(this.key, fields);
    this.say(_("Saving…"));
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.flush(), WAIT_MS);
  }

  /** @param {boolean} keepalive whether the page may be going away */
  flush(keepalive = false) {
    clearTimeout(this.timer);
    if (!this.waiting) return this.sending;
    const fields = this.waiting;
    this.waiting = null;
    if (keepalive) this.send(fields, true);
    else this.sending = this.sending.then(() => this.send(fields, false));
    return this.sending;
  }

  /** Have what waits on the server before a stage is confirmed or left. */
  async settle() {
    await this.flush();
    if (!this.waiting) keep(this.key, null);
  }

  /**
   * @param {Record<string, string>} fields
   * @param {boolean} keepalive
   */
  async send(fields, keepalive) {
    if (this.isLocked && !(await this.unlock())) return this.later(fields);
    // In a marketplace's frame there is none: the signed address is the proof.
    const token = /** @type {HTMLInputElement | null} */ (this.root.querySelector("[name=csrfmiddlewaretoken]"));
    const body = new URLSearchParams({ ...fields, version: this.version });
    try {
      const response = await fetch(this.url, {
        method: "POST",
        body,
        keepalive,
        headers: { "X-CSRFToken": token?.value || "", Accept: "application/json" },
      });
      if (refused(response.headers.get("X-Session"))) {
        this.isLocked = true;
        return (await this.unlock()) ? this.send(fields, keepalive) : this.later(fields);
      }
      const answer = await response.json();
      if (response.ok) {
        this.retryMs = RETRY_MS;
        if (!this.waiting && !this.leaving) keep(this.key, null);
        this.root.dispatchEvent(new CustomEvent("draft-kept", { detail: answer }));
        this.say(_("Saved %s").replace("%s", new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" })));
      } else {
        this.say(_("Not saved"));
        showProblem(answer.error);
      }
    } catch {
      this.say(_("Not saved: no connection. Trying again."));
      this.later(fields);
    }
  }

  /** @returns {Promise<boolean>} whether this page may send again */
  async unlock() {
    const state = await renew();
    say(state);
    this.isLocked = state !== "same";
    if (this.isLocked) this.say(_("Not saved"));
    return !this.isLocked;
  }

  /** @param {Record<string, string>} fields to be sent later, unless newer ones wait already */
  later(fields) {
    if (this.waiting) return;
    this.waiting = fields;
    this.timer = window.setTimeout(() => this.flush(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, MOST_RETRY_MS);
  }

  get version() {
    return /** @type {HTMLInputElement} */ (this.root.querySelector("[name=version]")).value;
  }

  /** @param {string} text */
  say(text) {
    if (this.note) this.note.textContent = text;
  }
}
