"""Made-up boards: systems that are right at a known rate, and automatic scores that agree more or less with people."""

import numpy as np

from measures.rectified import Board

WORLDS = {
    "3,000 items, 200 judged, good automatic score": {"items": 3_000, "judged": 200, "right": 0.7, "agrees": 0.9},
    "3,000 items, 100 judged, poor automatic score": {"items": 3_000, "judged": 100, "right": 0.7, "agrees": 0.6},
    "3,000 items, 100 judged, nine of ten right": {"items": 3_000, "judged": 100, "right": 0.9, "agrees": 0.8},
    "500 items, 100 judged, automatic score of noise": {"items": 500, "judged": 100, "right": 0.5, "agrees": 0.0},
    "20,000 items, 50 judged, very good automatic score": {
        "items": 20_000,
        "judged": 50,
        "right": 0.7,
        "agrees": 0.9,
        "finds": 1,
    },
    "20,000 items, 100 judged, excellent automatic score": {
        "items": 20_000,
        "judged": 100,
        "right": 0.7,
        "agrees": 0.94,
        "finds": 1,
    },
    "3,000 items, 100 judged, in two strata": {"items": 3_000, "judged": 100, "right": 0.7, "agrees": 0.8, "strata": 2},
}


def world(chance, *, items, judged, right, agrees, strata=1, finds=0.4):
    """Return a board of one system; its answers are right at the rate ``right``.

    The automatic score says whether they are in the share ``agrees`` of the answers. Of the others, it calls ``finds``
    right: if all, it errs rarely and to one side.
    Two strata are those of an easy and a hard half, unrelated to the automatic score.
    """
    hard = np.arange(items) % 2 * (strata - 1)
    is_right = chance.random(items) < np.where(hard, right - 0.2, right + 0.2 * (strata - 1))
    match = np.where(chance.random(items) < agrees, is_right, chance.random(items) < finds).astype(float)
    parts = [np.flatnonzero(hard == number) for number in range(strata)]
    sample = np.concatenate([chance.choice(part, judged // strata, replace=False) for part in parts])
    return Board({"a": match}, sample, {"a": is_right[sample].astype(float)}, hard)
