/** The headings of a page as a list beside it, which says where one is and follows. */
export class Outline {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} article
   * @param {HTMLElement} reader what scrolls
   * @param {(index: number) => void} go
   */
  constructor(root, article, reader, go) {
    this.headings = /** @type {HTMLElement[]} */ ([...article.querySelectorAll("h1, h2, h3, h4")]).filter((heading) => heading.textContent?.trim());
    this.reader = reader;
    this.here = -1;
    const items = this.headings.map((heading, index) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = this.textOf(index);
      button.className = `level-${heading.tagName[1]}`;
      button.addEventListener("click", () => go(index));
      item.append(button);
      return item;
    });
    this.buttons = items.map((item) => /** @type {HTMLElement} */ (item.firstChild));
    root.querySelector("[data-outline]")?.append(...items);
    let waiting = false;
    reader.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.follow();
      });
    });
    this.follow();
  }

  /** Mark the heading under which the top of the page now is, and keep it in view. */
  follow() {
    const top = this.reader.getBoundingClientRect().top + 80;
    const next = this.headings.findIndex((heading) => heading.getBoundingClientRect().top > top);
    const here = (next < 0 ? this.headings.length : next) - 1;
    if (here === this.here) return;
    this.buttons[this.here]?.removeAttribute("aria-current");
    this.here = here;
    this.buttons[here]?.setAttribute("aria-current", "location");
    this.buttons[here]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} index */
  textOf(index) {
    return this.headings[index].textContent?.trim() || "";
  }

  /**
   * @param {HTMLElement} box
   * @returns {number} the heading that a box stands under, or -1
   */
  before(box) {
    const next = this.headings.findIndex((heading) => !(heading.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING));
    return (next < 0 ? this.headings.length : next) - 1;
  }
}
