import assert from "node:assert/strict";
import test from "node:test";
import { moved, pathTo } from "../../static/annotation/tree.js";

// a table with two rows, the second with a list in it; then a paragraph
const PARENTS = [-1, 0, 0, 2, -1];

test("next and previous follow the document and stop at its ends", () => {
  assert.equal(moved(PARENTS, -1, "next"), 0);
  assert.equal(moved(PARENTS, 3, "next"), 4);
  assert.equal(moved(PARENTS, 4, "next"), 4);
  assert.equal(moved(PARENTS, 0, "previous"), 0);
  assert.equal(moved(PARENTS, -1, "previous"), 4);
});

test("parent and child move between nested boxes, or stay", () => {
  assert.equal(moved(PARENTS, 3, "parent"), 2);
  assert.equal(moved(PARENTS, 0, "parent"), 0);
  assert.equal(moved(PARENTS, 2, "child"), 3);
  assert.equal(moved(PARENTS, 1, "child"), 1);
  assert.equal(moved([], -1, "next"), -1);
});

test("over passes what is inside a box", () => {
  assert.equal(moved(PARENTS, 0, "over"), 4);
  assert.equal(moved(PARENTS, 2, "over"), 4);
  assert.equal(moved(PARENTS, 1, "over"), 2);
  assert.equal(moved(PARENTS, 4, "over"), 4);
});

test("a path leads from the outermost box to the box itself", () => {
  assert.deepEqual(pathTo(PARENTS, 3), [0, 2, 3]);
  assert.deepEqual(pathTo(PARENTS, -1), []);
});
