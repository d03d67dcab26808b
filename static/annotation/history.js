/**
 * Undo and redo over immutable values.
 * @template Value
 */
export class History {
  /** @param {Value} value the first value */
  constructor(value) {
    /** @type {Value[]} */
    this.values = [value];
    this.at = 0;
  }

  get value() {
    return this.values[this.at];
  }

  /** @param {Value} value */
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
