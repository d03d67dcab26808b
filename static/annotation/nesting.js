/** A slider over the boxes that lie in each other: smaller to the left, larger to the right. For fingers. */
export class Nesting {
  /**
   * @param {HTMLElement} root
   * @param {(index: number) => void} go
   */
  constructor(root, go) {
    this.row = /** @type {HTMLElement} */ (root.querySelector("[data-nesting]"));
    this.slider = /** @type {HTMLInputElement} */ (this.row.querySelector("input"));
    /** @type {number[]} smallest first */
    this.path = [];
    this.slider.addEventListener("input", () => {
      go(this.path[Number(this.slider.value)]);
      this.slider.focus(); // the box took the focus: the next arrow key is still the slider's
    });
  }

  /**
   * @param {number[]} path the boxes around each other, largest first
   * @param {number} current
   * @param {string} name of the current one
   */
  show(path, current, name) {
    this.path = [...path].reverse();
    this.row.hidden = path.length < 2;
    this.slider.max = String(path.length - 1);
    this.slider.value = String(this.path.indexOf(current));
    this.slider.setAttribute("aria-valuetext", name);
  }
}
