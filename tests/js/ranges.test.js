import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../static/annotation/history.js";
import { between, spanAt, withSpan } from "../../static/annotation/ranges.js";

test("a span swallows those it touches and stays apart from those it meets", () => {
  assert.deepEqual(withSpan([[0, 2], [5, 7]], [2, 3]), [[0, 2], [2, 3], [5, 7]]);
  assert.deepEqual(withSpan([[0, 2], [5, 7]], [1, 6]), [[0, 7]]);
  assert.deepEqual(withSpan([], [4, 5]), [[4, 5]]);
});

test("whatever is added, spans stay sorted and apart", () => {
  let seed = 7;
  const random = (limit) => (seed = (seed * 48271) % 2147483647) % limit;
  let spans = [];
  for (let round = 0; round < 500; round += 1) {
    const start = random(50);
    spans = withSpan(spans, [start, start + 1 + random(6)]);
    for (let at = 1; at < spans.length; at += 1) assert.ok(spans[at - 1][1] <= spans[at][0]);
    if (random(5) === 0) spans = spans.filter((_span, at) => at !== 0);
  }
});

test("a range holds both of its words, whichever came first", () => {
  assert.deepEqual(between(4, 2), [2, 5]);
  assert.deepEqual(between(3, 3), [3, 4]);
  assert.equal(spanAt([[2, 5], [7, 8]], 4), 0);
  assert.equal(spanAt([[2, 5], [7, 8]], 5), -1);
});

test("undo and redo walk over what was done, and a new step forgets the redone", () => {
  const history = new History(0);
  history.push(1);
  history.push(2);
  assert.ok(history.undo());
  assert.equal(history.value, 1);
  history.push(3);
  assert.ok(!history.redo());
  assert.ok(history.undo() && history.undo() && !history.undo());
  assert.equal(history.value, 0);
});
