const FLUSH_MS = 10_000;
const IDLE_MS = 30_000;

/** Records what was done, not what was typed, and how long the person was active. */
export class EventLog {
  /** @param {HTMLElement} root the stage */
  constructor(root) {
    this.root = root;
    this.url = root.dataset.eventsUrl || "";
    this.claimed = Date.parse(root.dataset.claimed || "") || Date.now();
    /** @type {[number, string, (number | null)][]} */
    this.events = [];
    this.sequence = -1;
    this.activeMs = 0;
    this.lastInput = this.lastTick = Date.now();
    this.timer = window.setInterval(() => this.flush(), FLUSH_MS);
    this.ticker = window.setInterval(() => this.tick(), 1000);
    this.add("stage_shown");
  }

  /**
   * @param {string} kind
   * @param {number | null} value
   */
  add(kind, value = null) {
    this.tick();
    this.lastInput = Date.now();
    this.events.push([Date.now() - this.claimed, kind, value]);
  }

  /** Note that the person is there. */
  touch() {
    this.tick();
    this.lastInput = Date.now();
  }

  tick() {
    const now = Date.now();
    if (document.visibilityState === "visible" && this.lastTick - this.lastInput < IDLE_MS) this.activeMs += now - this.lastTick;
    this.lastTick = now;
  }

  get activeSeconds() {
    this.tick();
    return (this.activeMs / 1000).toFixed(1);
  }

  /** Take what was recorded since the last piece: as fields of a form, and a way to put it back if it did not arrive. */
  take() {
    // Seconds since the claim: grows over reloads too, so that no piece is taken for another.
    this.sequence = Math.max(this.sequence + 1, Math.floor((Date.now() - this.claimed) / 1000));
    const taken = this.events.splice(0);
    return {
      fields: { sequence: String(this.sequence), events: JSON.stringify(taken) },
      putBack: () => void this.events.unshift(...taken.splice(0)),
    };
  }

  flush() {
    if (!this.events.length || !this.url) return;
    const token = /** @type {HTMLInputElement | null} */ (this.root.querySelector("[name=csrfmiddlewaretoken]"));
    const body = new FormData();
    if (token) body.set("csrfmiddlewaretoken", token.value);
    const { fields, putBack } = this.take();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    fetch(this.url, { method: "POST", body, keepalive: true }).then((response) => response.headers.has("X-Session") && putBack(), putBack);
  }

  close() {
    clearInterval(this.timer);
    clearInterval(this.ticker);
    this.flush();
  }
}
