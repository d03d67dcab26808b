/**
 * The page around a task: how much time is left, and what to do when the task was sent.
 *
 * The frame belongs to another person. All this page learns from it is that it loaded another page;
 * then it asks its own server what became of the assignment.
 */
class Work {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.frame = /** @type {HTMLIFrameElement} */ (document.getElementById("frame"));
    this.next = /** @type {HTMLFormElement} */ (document.getElementById("next"));
    this.endsAt = performance.now() + 1000 * Number(root.dataset.secondsLeft);
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
    if (left === 0 && !this.asked) {
      this.asked = true;
      this.ask();
    }
  }

  async ask() {
    const response = await fetch(this.root.dataset.stateUrl || "", { headers: { Accept: "application/json" } }).catch(() => null);
    if (!response?.ok) return;
    const { state, seconds_left: left } = await response.json();
    if (state === "Accepted") {
      this.endsAt = performance.now() + 1000 * left;
      return;
    }
    const auto = /** @type {HTMLInputElement} */ (document.getElementById("auto"));
    if (state !== "Returned" && state !== "Abandoned" && auto.checked) this.next.submit();
    else window.location.reload();
  }
}

const root = document.getElementById("task");
if (root) new Work(root);
