import { History } from "./history.js";
import { between, spanAt, withSpan } from "./ranges.js";
import { _, announce } from "./text.js";

const DRAGGED_PX = 4; // within one word: it is meant, not tapped

/**
 * Stage 3: marking words inside the chosen box. Positions count the words of the box; the server
 * is told token numbers.
 * @typedef {{spans: import("./ranges.js").Span[], kind: string}} Marked
 */
export class Spans {
  /**
   * @param {HTMLElement} root
   * @param {import("./draft.js").Draft} draft
   * @param {import("./eventlog.js").EventLog} log
   */
  constructor(root, draft, log) {
    this.root = root;
    this.draft = draft;
    this.log = log;
    this.box = /** @type {HTMLElement} */ (root.querySelector("[data-words]"));
    this.form = /** @type {HTMLFormElement} */ (root.querySelector("[data-answer]"));
    this.list = /** @type {HTMLElement} */ (root.querySelector("[data-spans]"));
    /** @type {[number, string][]} token number and printed form of each word */
    this.words = JSON.parse(document.getElementById("box-words")?.textContent || "[]");
    const position = new Map(this.words.map(([token], index) => [token, index]));
    /** @type {HTMLElement[][]} the elements of each word: a word that runs over a tag has several */
    this.elements = this.words.map(() => []);
    for (const element of this.box.querySelectorAll("[data-token]")) {
      const index = position.get(Number(/** @type {HTMLElement} */ (element).dataset.token));
      if (index !== undefined) this.elements[index].push(/** @type {HTMLElement} */ (element));
    }
    this.place = new Map(this.elements.flatMap((elements, index) => elements.map((element) => [element, index])));
    this.cursor = -1;
    this.anchor = -1;
    this.dragging = false;
    this.pressedAt = 0;
    this.rightToLeft = getComputedStyle(this.elements[0]?.[0] || this.box).direction === "rtl";
    this.history = new History(this.kept(position));
    this.listen();
    this.render();
  }

  /**
   * @param {Map<number, number>} position
   * @returns {Marked}
   */
  kept(position) {
    const unsent = this.draft.unsent();
    /** @type {[number, number][]} */
    const kept = JSON.parse(unsent?.spans || document.getElementById("kept-spans")?.textContent || "[]");
    const spans = kept.map(([start, end]) => {
      const inside = this.words.filter(([token]) => start <= token && token < end).map(([token]) => position.get(token) ?? 0);
      return /** @type {import("./ranges.js").Span} */ ([Math.min(...inside), Math.max(...inside) + 1]);
    });
    const chosen = /** @type {HTMLInputElement | null} */ (this.form.querySelector("[name=kind]:checked"));
    return { spans, kind: unsent?.kind || chosen?.value || (spans.length ? "spans" : "") };
  }

  listen() {
    this.box.addEventListener("pointerdown", (event) => this.press(event));
    this.box.addEventListener("pointermove", (event) => this.drag(event));
    this.box.addEventListener("pointerup", (event) => this.release(event));
    this.box.addEventListener("dblclick", (event) => {
      const word = this.wordUnder(event);
      if (word >= 0) this.mark([word, word + 1]);
    });
    for (const radio of this.form.querySelectorAll("[name=kind]")) {
      radio.addEventListener("change", () => this.choose(/** @type {HTMLInputElement} */ (radio).value));
    }
    const around = this.root.querySelector("[data-around]");
    around?.addEventListener("click", () => {
      const isShown = around.getAttribute("aria-expanded") !== "true";
      around.setAttribute("aria-expanded", String(isShown));
      for (const part of this.root.querySelectorAll("[data-around-part]")) part.toggleAttribute("hidden", !isShown);
      this.box.scrollIntoView({ block: "nearest" });
      this.log.add("around");
    });
    this.root.querySelector("[data-undo]")?.addEventListener("click", () => this.step("undo"));
    this.root.querySelector("[data-redo]")?.addEventListener("click", () => this.step("redo"));
  }

  /** @param {PointerEvent} event */
  press(event) {
    const word = this.wordUnder(event);
    if (word < 0 || event.button !== 0) return;
    if (event.pointerType === "mouse") {
      event.preventDefault();
      this.box.focus({ preventScroll: true });
    }
    this.dragging = event.pointerType === "mouse";
    this.pressed = word;
    this.pressedAt = event.clientX;
    this.cursor = word;
    this.draw();
  }

  /** @param {PointerEvent} event */
  drag(event) {
    if (!this.dragging || this.pressed === undefined) return;
    const word = this.wordUnder(event);
    if (word < 0 || word === this.cursor) return;
    this.anchor = this.pressed;
    this.cursor = word;
    this.moving = true;
    this.draw();
  }

  /** @param {PointerEvent} event */
  release(event) {
    const word = this.wordUnder(event);
    const { moving, pressed } = this;
    this.dragging = this.moving = false;
    this.pressed = undefined;
    if (pressed === undefined) return;
    if (moving) this.mark(between(this.anchor, this.cursor));
    else if (word !== pressed) return;
    else if (this.anchor >= 0) this.mark(between(this.anchor, word));
    else if (event.pointerType === "mouse" && Math.abs(event.clientX - this.pressedAt) > DRAGGED_PX) this.mark([word, word + 1]);
    else {
      this.anchor = this.cursor = word;
      announce(_("First word marked. Choose the last word."));
      this.draw();
    }
  }

  /** @param {Event} event */
  wordUnder(event) {
    const { clientX, clientY } = /** @type {PointerEvent} */ (event);
    const element = document.elementFromPoint(clientX, clientY)?.closest("[data-token]");
    return element ? (this.place.get(/** @type {HTMLElement} */ (element)) ?? -1) : -1;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const forward = this.rightToLeft ? "ArrowLeft" : "ArrowRight";
    const backward = this.rightToLeft ? "ArrowRight" : "ArrowLeft";
    if (event.key === forward || event.key === backward) this.walk(event.key === forward ? 1 : -1, event.shiftKey);
    else if (event.key === "Home") this.walk(-this.words.length, event.shiftKey);
    else if (event.key === "End") this.walk(this.words.length, event.shiftKey);
    else if (event.key === "Enter" && event.ctrlKey) this.submit();
    else if (event.key === "Enter" || event.key === " ") {
      if (this.cursor < 0) return false;
      this.mark(between(this.anchor >= 0 ? this.anchor : this.cursor, this.cursor));
    } else if (event.key === "x" || event.key === "Backspace" || event.key === "Delete") this.removeHere();
    else if (event.key === "Escape") {
      this.anchor = -1;
      this.draw();
    } else return false;
    return true;
  }

  /**
   * @param {number} step
   * @param {boolean} extend
   */
  walk(step, extend) {
    if (extend && this.anchor < 0) this.anchor = Math.max(this.cursor, 0);
    if (!extend) this.anchor = -1;
    this.cursor = Math.max(0, Math.min(this.words.length - 1, this.cursor + step));
    this.elements[this.cursor][0]?.scrollIntoView({ block: "nearest" });
    this.box.focus({ preventScroll: true });
    announce(this.anchor >= 0 ? this.textOf(between(this.anchor, this.cursor)) : this.words[this.cursor][1]);
    this.draw();
  }

  /** @param {import("./ranges.js").Span} span */
  mark(span) {
    this.anchor = -1;
    this.log.add("span_add", span[1] - span[0]);
    this.change({ spans: withSpan(this.history.value.spans, span), kind: "spans" });
    announce(_("Marked: %s").replace("%s", this.textOf(span)));
  }

  removeHere() {
    const { spans } = this.history.value;
    const at = spanAt(spans, this.cursor);
    this.remove(at >= 0 ? at : spans.length - 1);
  }

  /** @param {number} index */
  remove(index) {
    const spans = this.history.value.spans.filter((_span, at) => at !== index);
    if (spans.length === this.history.value.spans.length) return;
    this.log.add("span_remove", index);
    this.change({ spans, kind: spans.length ? "spans" : "" });
  }

  /** @param {string} kind */
  choose(kind) {
    this.log.add("answer");
    this.change({ spans: kind === "spans" ? this.history.value.spans : [], kind });
  }

  /** @param {Marked} marked */
  change(marked) {
    this.history.push(marked);
    this.render();
    this.draft.save({ kind: marked.kind, spans: this.tokens() });
  }

  /** @param {"undo" | "redo"} which */
  step(which) {
    if (!this.history[which]()) return;
    this.log.add(which);
    this.render();
    this.draft.save({ kind: this.history.value.kind, spans: this.tokens() });
  }

  submit() {
    const button = /** @type {HTMLButtonElement} */ (this.form.querySelector("[data-submit]"));
    if (!button.disabled) this.form.requestSubmit(button);
  }

  /** @returns {string} the spans as JSON pairs of token numbers */
  tokens() {
    const pairs = this.history.value.spans.map(([start, end]) => [this.words[start][0], this.words[end - 1][0] + 1]);
    return JSON.stringify(pairs);
  }

  /** @param {import("./ranges.js").Span} span */
  textOf([start, end]) {
    return this.words.slice(start, end).map(([, text]) => text).join(" ");
  }

  render() {
    const { spans, kind } = this.history.value;
    /** @type {HTMLInputElement} */ (this.form.elements.namedItem("spans")).value = this.tokens();
    for (const radio of this.form.querySelectorAll("[name=kind]")) {
      const input = /** @type {HTMLInputElement} */ (radio);
      input.checked = input.value === kind;
    }
    const complete = kind === "spans" ? spans.length > 0 : Boolean(kind);
    /** @type {HTMLButtonElement} */ (this.form.querySelector("[data-submit]")).disabled = !complete;
    this.list.replaceChildren(...spans.map((span, index) => this.row(span, index)));
    this.draw();
  }

  /**
   * @param {import("./ranges.js").Span} span
   * @param {number} index
   */
  row(span, index) {
    const row = document.createElement("li");
    const label = document.createElement("span");
    label.className = "quiet";
    label.textContent = _("Exported as:");
    const text = document.createElement("span");
    text.className = "text";
    text.textContent = this.textOf(span);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button quiet";
    button.textContent = _("Remove");
    button.setAttribute("aria-label", `${_("Remove")}: ${text.textContent}`);
    button.addEventListener("click", () => this.remove(index));
    row.append(label, text, button);
    return row;
  }

  draw() {
    const pending = this.anchor >= 0 && this.cursor >= 0 ? between(this.anchor, this.cursor) : [0, 0];
    const { spans } = this.history.value;
    this.elements.forEach((elements, index) => {
      const span = spans[spanAt(spans, index)];
      elements.forEach((element, part) => {
        element.classList.toggle("is-marked", Boolean(span));
        element.classList.toggle("is-first", span?.[0] === index && part === 0);
        element.classList.toggle("is-last", span?.[1] === index + 1 && part === elements.length - 1);
        element.classList.toggle("is-pending", pending[0] <= index && index < pending[1]);
        element.classList.toggle("is-cursor", index === this.cursor);
      });
    });
    // The blanks between the words of a span belong to its mark; those between two spans do not.
    if ("highlights" in CSS) CSS.highlights.set("marked", new Highlight(...spans.map((span) => this.rangeOf(span))));
  }

  /** @param {import("./ranges.js").Span} span */
  rangeOf([start, end]) {
    const range = document.createRange();
    const last = this.elements[end - 1];
    range.setStartBefore(this.elements[start][0] || this.box);
    range.setEndAfter(last[last.length - 1] || this.box);
    return range;
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }
}
