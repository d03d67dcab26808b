/** Undo and redo over immutable values. */
export class History {
  /** @param {any} value the first value */
  constructor(value) {
    this.values = [value];
    this.at = 0;
  }

  get value() {
    return this.values[this.at];
  }

  /** @param {any} value */
  push(value) {
    this.values.splice(this.at + 1, Infinity, value);
    this.at += 1;
  }

  /** @returns {boolean} whether there was something to undo */
  undo() {
    if (this.at === 0) return false;
    this.at -= 1;
    return true;
  }

  /** @returns {boolean} whether there was something to redo */
  redo() {
    if (this.at === this.values.length - 1) return false;
    this.at += 1;
    return true;
  }
}
