import { Find } from "./find.js";
import { Nesting } from "./nesting.js";
import { Outline } from "./outline.js";
import { _, announce, showProblem } from "./text.js";
import { moved, pathTo } from "./tree.js";

/** @type {Record<string, () => string>} */
const NAMES = {
  P: () => _("Paragraph"),
  TABLE: () => _("Table"),
  TR: () => _("Row"),
  UL: () => _("List"),
  OL: () => _("Numbered list"),
  DL: () => _("Definition list"),
  LI: () => _("List item"),
  DD: () => _("Definition"),
  DT: () => _("Term"),
};
/** @type {Record<string, "next" | "previous" | "parent" | "child" | "over">} */
const MOVES = { ArrowDown: "next", j: "next", ArrowUp: "previous", k: "previous", ArrowLeft: "parent", ArrowRight: "child", J: "over" };

/** Stage 2: walking over the boxes of the page and choosing one. */
export class Boxes {
  /**
   * @param {HTMLElement} root
   * @param {import("./draft.js").Draft} draft
   * @param {import("./eventlog.js").EventLog} log
   */
  constructor(root, draft, log) {
    this.root = root;
    this.draft = draft;
    this.log = log;
    this.article = /** @type {HTMLElement} */ (root.querySelector("[data-document]"));
    this.form = /** @type {HTMLFormElement} */ (root.querySelector("[data-choose]"));
    this.where = /** @type {HTMLElement} */ (root.querySelector("[data-where]"));
    this.boxes = /** @type {HTMLElement[]} */ ([...this.article.querySelectorAll("[data-box]")]);
    const place = new Map(this.boxes.map((box, index) => [box, index]));
    this.parents = this.boxes.map((box) => {
      const around = box.parentElement?.closest("[data-box]");
      return around ? (place.get(/** @type {HTMLElement} */ (around)) ?? -1) : -1;
    });
    this.reader = /** @type {HTMLElement} */ (root.querySelector("[data-reader]"));
    this.outline = new Outline(root, this.article, this.reader, (index) => this.toHeading(index));
    this.nesting = new Nesting(root, (index) => this.goTo(index));
    this.current = -1;
    this.leaf = -1; // the smallest box of those around each other that one goes up and down in
    /** @type {HTMLElement | null} */
    this.hovered = null;
    this.find = new Find(this.article, (index, total) => this.reportHits(index, total));
    this.listen();
    const unsent = draft.unsent()?.candidate_index;
    const chosen = this.boxes.findIndex((box) => box.dataset.box === (unsent ?? root.dataset.chosen));
    if (chosen >= 0) this.goTo(chosen, unsent !== undefined);
  }

  listen() {
    this.article.addEventListener("pointerover", (event) => this.hover(this.boxUnder(event)));
    this.article.addEventListener("pointerleave", () => this.hover(null));
    this.article.addEventListener("click", (event) => this.point(event));
    this.article.addEventListener("dblclick", (event) => {
      if (this.boxUnder(event)) this.choose();
    });
    for (const button of this.root.querySelectorAll("[data-move]")) {
      button.addEventListener("click", () => this.move(/** @type {any} */ (button).dataset.move));
    }
    const field = /** @type {HTMLInputElement} */ (this.root.querySelector("[data-find]"));
    field.addEventListener("input", () => this.find.search(field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.log.add("find", this.find.hits.length);
        this.find.go(event.shiftKey ? -1 : 1);
        this.fromHit();
      } else if (event.key === "Escape") {
        field.value = "";
        this.find.search("");
        this.focus();
      }
    });
  }

  /**
   * Take the box that was pointed at; pointing at the same place again takes the one around it.
   * @param {MouseEvent} event
   */
  point(event) {
    const box = this.boxUnder(event);
    if (!box) return;
    const smallest = this.boxes.indexOf(box);
    const again = this.pointed === smallest && pathTo(this.parents, smallest).includes(this.current);
    this.pointed = smallest;
    if (!again) this.goTo(smallest);
    else if (event.detail < 2) this.goTo(this.parents[this.current] >= 0 ? this.parents[this.current] : smallest);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "ArrowDown" && event.shiftKey) this.move("over");
    else if (MOVES[event.key]) this.move(MOVES[event.key]);
    else if (event.key === "Enter") this.choose();
    else if (event.key === "/") /** @type {HTMLElement} */ (this.root.querySelector("[data-find]")).focus();
    else if (event.key === "h" || event.key === "H") this.heading(event.key === "h" ? 1 : -1);
    else return false;
    return true;
  }

  /** @param {"next" | "previous" | "parent" | "child" | "over"} move */
  move(move) {
    this.goTo(moved(this.parents, this.current, move));
  }

  /**
   * @param {number} index
   * @param {boolean} save
   */
  goTo(index, save = true) {
    if (index < 0 || index === this.current) return;
    const before = this.boxes[this.current];
    before?.classList.remove("is-current");
    before?.removeAttribute("tabindex");
    this.current = index;
    if (!pathTo(this.parents, this.leaf).includes(index)) this.leaf = index;
    const box = this.boxes[index];
    box.classList.add("is-current");
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
    box.scrollIntoView({ block: "nearest" });
    this.where.replaceChildren(...this.trail(index));
    announce(this.where.textContent || "");
    this.nesting.show(pathTo(this.parents, this.leaf), index, this.nameOf(index));
    /** @type {HTMLInputElement} */ (this.form.elements.namedItem("candidate_index")).value = box.dataset.box || "";
    /** @type {HTMLButtonElement} */ (this.form.querySelector("button")).disabled = false;
    if (save) {
      this.log.add("box_focus", Number(box.dataset.box));
      this.draft.save({ candidate_index: box.dataset.box || "" });
    }
  }

  /** Choose the current box; one that is out of sight is shown first. */
  choose() {
    const box = this.boxes[this.current];
    if (!box) return;
    if (!this.isInSight(box)) {
      box.scrollIntoView({ block: "nearest" });
      showProblem(_("This box is selected. Press Enter again to choose it."));
      return;
    }
    this.log.add("box_choose", Number(box.dataset.box));
    this.form.requestSubmit();
  }

  /** @param {HTMLElement} box */
  isInSight(box) {
    const inner = box.getBoundingClientRect();
    const outer = this.reader.getBoundingClientRect();
    return inner.bottom > outer.top && inner.top < outer.bottom;
  }

  /**
   * Return the way to a box, each step of it a button.
   * @param {number} index
   */
  trail(index) {
    const heading = this.outline.before(this.boxes[index]);
    /** @type {[string, () => void][]} */
    const steps = [[_("Page"), () => this.reader.scrollTo({ top: 0 })]];
    if (heading >= 0) steps.push([this.outline.textOf(heading), () => this.toHeading(heading)]);
    for (const at of pathTo(this.parents, index)) steps.push([this.nameOf(at), () => this.goTo(at)]);
    const parts = steps.flatMap(([name, go], number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", go);
      if (number === steps.length - 1) button.setAttribute("aria-current", "true");
      return number ? [" › ", button] : [button];
    });
    return [...parts, ` (${index + 1}/${this.boxes.length})`];
  }

  /** @param {number} index */
  nameOf(index) {
    const box = this.boxes[index];
    const name = (NAMES[box.tagName] || (() => box.tagName))();
    if (box.tagName !== "TR" && box.tagName !== "LI") return name;
    const alike = [...(box.parentElement?.children || [])].filter((other) => other.tagName === box.tagName);
    return `${name} ${alike.indexOf(box) + 1}`;
  }

  /** @param {1 | -1} step */
  heading(step) {
    const here = this.boxes[this.current] ? this.outline.before(this.boxes[this.current]) : -1;
    this.toHeading(Math.max(0, Math.min(this.outline.headings.length - 1, here + step)));
  }

  /** @param {number} index */
  toHeading(index) {
    const heading = this.outline.headings[index];
    if (!heading) return;
    this.log.add("heading", index);
    const next = this.boxes.findIndex((box) => heading.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (next >= 0) this.goTo(next);
    heading.scrollIntoView({ block: "start" });
  }

  /** @param {Event} event */
  boxUnder(event) {
    return /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-box]"));
  }

  /** @param {HTMLElement | null} box */
  hover(box) {
    if (box === this.hovered) return;
    this.hovered?.classList.remove("is-hover");
    box?.classList.add("is-hover");
    this.hovered = box;
  }

  fromHit() {
    const hit = this.find.hits[this.find.at];
    const box = hit?.startContainer.parentElement?.closest("[data-box]");
    const field = document.activeElement;
    if (box) this.goTo(this.boxes.indexOf(/** @type {HTMLElement} */ (box)));
    /** @type {HTMLElement | null} */ (field)?.focus({ preventScroll: true });
  }

  /**
   * @param {number} index
   * @param {number} total
   */
  reportHits(index, total) {
    const count = this.root.querySelector("[data-find-count]");
    const field = /** @type {HTMLInputElement} */ (this.root.querySelector("[data-find]"));
    if (count) count.textContent = total ? `${index + 1}/${total}` : field.value.length > 1 ? _("no matches") : "";
  }

  focus() {
    const box = this.boxes[this.current];
    if (box) box.focus({ preventScroll: true });
    else this.reader.focus({ preventScroll: true });
  }
}
