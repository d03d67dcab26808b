/**
 * The page around a task: how much time is left, and what to do when the task was sent.
 *
 * The frame belongs to another person. All this page learns from it is that it loaded another page;
 * then it asks its own server what became of the assignment. If the next HIT is to be accepted, the same question
 * accepts it, and it takes the place of the one that was sent.
 */
class Work {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.frame = /** @type {HTMLIFrameElement} */ (document.getElementById("frame"));
    this.next = /** @type {HTMLFormElement} */ (document.getElementById("next"));
    this.auto = /** @type {HTMLInputElement} */ (document.getElementById("auto"));
    this.endsAt = performance.now() + 1000 * Number(root.dataset.secondsLeft);
    this.isAsking = this.asksAgain = this.isLost = this.hasEnded = false;
    window.addEventListener("load", () => this.start());
    document.addEventListener("visibilitychange", () => this.ask());
    window.setInterval(() => this.show(), 1000);
    window.setInterval(() => this.ask(), 20_000);
    this.show();
  }

  /**
   * The frame can load, and its task be sent, before this script runs. The window waits for both, so it asks
   * what happened until then.
   */
  start() {
    this.frame.addEventListener("load", () => this.ask());
    this.ask();
    this.enter();
  }

  /** Put the focus into the task, so that its keys work at once, unless the person is somewhere already. */
  enter() {
    if (document.activeElement === document.body) this.frame.focus();
  }

  show() {
    const left = Math.max(0, Math.round((this.endsAt - performance.now()) / 1000));
    const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    const shown = [...(hours ? [hours] : []), minutes, seconds].map((part, place) => (place ? String(part).padStart(2, "0") : part));
    const clock = document.getElementById("time-left");
    if (clock) clock.textContent = shown.join(":");
    this.root.classList.toggle("is-late", left < 120);
    if (left === 0 && !this.hasEnded) {
      this.hasEnded = true;
      this.ask();
    }
  }

  /** Ask what became of the assignment; one question at a time, since it may accept a HIT. */
  async ask() {
    this.asksAgain = this.isAsking;
    if (this.isAsking) return;
    this.isAsking = true;
    const isLeaving = await this.askOnce().catch(() => {
      this.isLost = true; // a HIT may have been accepted: the next question is for that one
      return false;
    });
    this.isAsking = isLeaving;
    if (this.asksAgain && !isLeaving) this.ask();
  }

  /** @returns {Promise<boolean>} whether this page is left */
  async askOnce() {
    const response = await (this.auto.checked
      ? fetch(this.next.action, { method: "POST", body: this.sent() })
      : fetch(this.root.dataset.stateUrl || ""));
    if (response.status === 403 || response.redirected) {
      window.location.reload(); // somebody logged out or in, in another window
      return true;
    }
    if (!response.ok) return false;
    const said = await response.json();
    this.isLost = false;
    if (said.state === "Accepted") this.endsAt = performance.now() + 1000 * said.seconds_left;
    else if (said.next && this.fits(said.next.frame)) this.proceed(said.next);
    else {
      if (said.next || said.go) window.location.assign(said.next ? said.next.page : said.go);
      else window.location.reload();
      return true;
    }
    return false;
  }

  sent() {
    const fields = new FormData(this.next);
    if (this.isLost) fields.set("again", "1");
    return fields;
  }

  /**
   * This page may frame the sites that its server named when it was loaded.
   * @param {{url: string}} frame
   */
  fits(frame) {
    return new URL(frame.url).origin === new URL(this.frame.src).origin;
  }

  /**
   * Show the next HIT, which was accepted. A frame of its own leaves no step in the history.
   * @param {{page: string, state: string, auto_accept: string, give_back: string, deadline: string, seconds_left: number,
   *          frame: {url: string, sandbox: string, height: number}}} next
   */
  proceed(next) {
    const frame = /** @type {HTMLIFrameElement} */ (this.frame.cloneNode());
    frame.src = next.frame.url;
    frame.setAttribute("sandbox", next.frame.sandbox);
    frame.classList.toggle("fill", !next.frame.height);
    frame.height = next.frame.height ? String(next.frame.height) : "";
    this.frame.replaceWith(frame);
    this.frame = frame;
    frame.addEventListener("load", () => this.ask());
    history.replaceState(null, "", next.page);
    this.root.dataset.stateUrl = next.state;
    this.next.action = next.auto_accept;
    /** @type {HTMLFormElement} */ (document.getElementById("return")).action = next.give_back;
    document.getElementById("time-left")?.setAttribute("datetime", next.deadline);
    this.endsAt = performance.now() + 1000 * next.seconds_left;
    this.hasEnded = false;
    this.show();
    const announcement = document.getElementById("announcement");
    if (announcement) announcement.textContent = this.root.dataset.nextText || "";
    window.scrollTo(0, 0);
    this.enter();
  }
}

const root = document.getElementById("task");
if (root) new Work(root);
