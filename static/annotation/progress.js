import { _ } from "./text.js";

/** How far one is: "137 of about 500 · about 2 h left". How many come in all is not known to the last one. */
export class Progress {
  constructor() {
    this.place = /** @type {HTMLElement | null} */ (document.querySelector("[data-progress]"));
    const { done, left, seconds } = this.place?.dataset ?? {};
    this.of = left === undefined ? null : Number(done) + Number(left);
    this.seconds = Number(seconds);
  }

  /** @param {HTMLElement} root a stage, which says how many items are done */
  show(root) {
    if (!this.place || root.dataset.done === undefined) return;
    const done = Number(root.dataset.done);
    const of = root.dataset.over === undefined ? this.of : null; // nothing is left, whatever was estimated
    this.place.textContent = [this.count(done, of), this.time(done, of)].filter(Boolean).join(" · ");
  }

  /** @param {number} done @param {number | null} of */
  count(done, of) {
    if (of === null || of < done) return _("%s done").replace("%s", String(done));
    return _("%1 of about %2").replace("%1", String(done)).replace("%2", String(of));
  }

  /** @param {number} done @param {number | null} of */
  time(done, of) {
    const minutes = Math.ceil((((of ?? done) - done) * this.seconds) / 60);
    if (minutes < 1) return "";
    if (minutes < 90) return _("about %s min left").replace("%s", String(minutes));
    return _("about %s h left").replace("%s", String(Math.round(minutes / 60)));
  }
}
