/**
 * Spans of words as half-open ranges over positions in the box: pure arithmetic.
 * @typedef {[number, number]} Span
 */

/**
 * Add a span; it swallows those it touches with at least one word.
 * @param {Span[]} spans sorted and apart from each other
 * @param {Span} added
 * @returns {Span[]} sorted and apart from each other
 */
export function withSpan(spans, [start, end]) {
  /** @type {Span[]} */
  const kept = [];
  for (const span of spans) {
    if (span[1] <= start || span[0] >= end) kept.push(span);
    else {
      start = Math.min(start, span[0]);
      end = Math.max(end, span[1]);
    }
  }
  kept.push([start, end]);
  return kept.sort((left, right) => left[0] - right[0]);
}

/**
 * @param {Span[]} spans
 * @param {number} position
 * @returns {number} which span holds the position, or -1
 */
export function spanAt(spans, position) {
  return spans.findIndex(([start, end]) => start <= position && position < end);
}

/**
 * @param {number} anchor
 * @param {number} focus
 * @returns {Span} the range between two words, both included
 */
export function between(anchor, focus) {
  return [Math.min(anchor, focus), Math.max(anchor, focus) + 1];
}
