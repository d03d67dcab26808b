"""From scores of windows to the prediction for a page (Alberti, Lee and Collins 2019, section 2.3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.nq.examples import Example
from baselines.nq.predictions import Prediction, no_answer, prediction
from baselines.nq.windows import NO_TOKEN, Kind

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
BEST = 10  # first and last pieces of a window that are tried
MOST_PIECES = 30  # of a short answer


class Span(NamedTuple):
    """A half-open range of tokens that may be the answer, with its score and the kind that its window says."""

    score: float
    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class WindowScores:
    """The logits of one window: (length,), (length,), (kinds,); with the token of each piece, -1 for all else."""

    starts: Floats
    ends: Floats
    kinds: Floats
    tokens: Ints


def best_span(windows: Iterable[WindowScores]) -> Span | None:
    """Return the best-scoring span over all windows of a page; of equal scores, the first.

    A span's score is that of its first and last piece, less that of ``[CLS]`` in both places. Pieces that aren't of the
    page are left out before the best ten are taken.
    """
    best: Span | None = None
    for window in windows:
        of_page = np.flatnonzero(window.tokens != NO_TOKEN)
        firsts, lasts = (_highest(scores, of_page) for scores in (window.starts, window.ends))
        floor = float(window.starts[0] + window.ends[0])
        for first in firsts:
            for last in lasts[(lasts >= first) & (lasts < first + MOST_PIECES)]:
                score = float(window.starts[first] + window.ends[last]) - floor
                if best is None or score > best.score:
                    kind = Kind(int(window.kinds.argmax()))
                    best = Span(score, int(window.tokens[first]), int(window.tokens[last]) + 1, kind)
    return best


def _highest(scores: Floats, places: Ints | npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the positions of the highest scores, in descending order; of equal scores, the first come first."""
    order = np.argsort(-scores[places], kind="stable")[:BEST]
    found: npt.NDArray[np.intp] = np.asarray(places, dtype=np.intp)[order]
    return found


def prediction_of(example: Example, span: Span | None, *, with_kinds: bool = False) -> Prediction:
    """Return the prediction for an example in the format of the official evaluation.

    The long answer is the first top-level box that holds the span; both answers have one score.

    Parameters
    ----------
    with_kinds
        Use the kind that the window predicts, beyond the paper: yes or no replaces the span, and the kind of a
        long answer alone gives no short one.
    """
    if span is None:
        return no_answer(example)
    boxes = (box for box in example.boxes if box.is_top and box.start <= span.start and span.end <= box.end)
    long = next(((box.start, box.end) for box in boxes), None)
    shorts = [(span.start, span.end)]
    yes_no = "NONE"
    if with_kinds and span.kind in (Kind.YES, Kind.NO):
        shorts, yes_no = [], span.kind.name
    elif with_kinds and span.kind is Kind.LONG:
        shorts = []
    return prediction(example, long, shorts, long_score=span.score, short_score=span.score, yes_no=yes_no)
