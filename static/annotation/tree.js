/** Where boxes lie in each other: pure arithmetic on their parents. */

/**
 * @param {number[]} parents for each box the index of the box around it, or -1
 * @param {number} current index of the current box, or -1 for none
 * @param {"next"|"previous"|"parent"|"child"|"over"} move
 * @returns {number} the index to go to: the current one where there is nothing to go to
 */
export function moved(parents, current, move) {
  const last = parents.length - 1;
  if (last < 0) return -1;
  if (current < 0) return move === "previous" ? last : 0;
  switch (move) {
    case "next":
      return Math.min(current + 1, last);
    case "previous":
      return Math.max(current - 1, 0);
    case "over": {
      let at = current + 1;
      while (at <= last && pathTo(parents, at).includes(current)) at += 1;
      return Math.min(at, last);
    }
    case "parent":
      return parents[current] >= 0 ? parents[current] : current;
    default:
      return parents[current + 1] === current ? current + 1 : current;
  }
}

/**
 * @param {number[]} parents
 * @param {number} index
 * @returns {number[]} the boxes around a box, outermost first, itself last
 */
export function pathTo(parents, index) {
  const path = [];
  for (let at = index; at >= 0; at = parents[at]) path.unshift(at);
  return path;
}
