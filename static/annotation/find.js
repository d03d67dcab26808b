/** Find in the page: hits are highlighted without touching the page. */
export class Find {
  /**
   * @param {HTMLElement} article
   * @param {(index: number, total: number) => void} report
   */
  constructor(article, report) {
    this.article = article;
    this.report = report;
    /** @type {{node: Text, start: number}[]} */
    this.nodes = [];
    this.text = "";
    /** @type {Range[]} */
    this.hits = [];
    this.at = -1;
  }

  /** @param {string} query */
  search(query) {
    this.clear();
    if (query.trim().length < 2) return this.report(-1, 0);
    if (!this.nodes.length) this.read();
    const wanted = query.toLocaleLowerCase();
    for (let from = this.text.indexOf(wanted); from >= 0 && this.hits.length < 1000; from = this.text.indexOf(wanted, from + wanted.length)) {
      this.hits.push(this.range(from, from + wanted.length));
    }
    if ("highlights" in CSS) CSS.highlights.set("found", new Highlight(...this.hits));
    this.go(1);
  }

  /** @param {1 | -1} step */
  go(step) {
    if (!this.hits.length) return this.report(-1, 0);
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    const hit = this.hits[this.at];
    if ("highlights" in CSS) CSS.highlights.set("found-here", new Highlight(hit));
    hit.startContainer.parentElement?.scrollIntoView({ block: "center" });
    this.report(this.at, this.hits.length);
  }

  clear() {
    this.hits = [];
    this.at = -1;
    if ("highlights" in CSS) for (const name of ["found", "found-here"]) CSS.highlights.delete(name);
  }

  read() {
    const walker = document.createTreeWalker(this.article, NodeFilter.SHOW_TEXT);
    const parts = [];
    let length = 0;
    while (walker.nextNode()) {
      const node = /** @type {Text} */ (walker.currentNode);
      // A letter whose lower case is longer would shift every place after it.
      const lower = node.data.toLocaleLowerCase();
      const part = lower.length === node.data.length ? lower : node.data;
      this.nodes.push({ node, start: length });
      parts.push(part);
      length += part.length;
    }
    this.text = parts.join("");
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  range(start, end) {
    const range = document.createRange();
    const first = this.nodes[this.holder(start)];
    const last = this.nodes[this.holder(end - 1)];
    range.setStart(first.node, start - first.start);
    range.setEnd(last.node, end - last.start);
    return range;
  }

  /** @param {number} position */
  holder(position) {
    let low = 0;
    let high = this.nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.nodes[middle].start <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
