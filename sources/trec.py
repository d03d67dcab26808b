"""Runs in TREC format: the results of systems, one line per answer."""

import math
from collections.abc import Mapping
from ctypes import c_float
from enum import StrEnum
from typing import NamedTuple

from storage.text_files import LineFault


class TieOrder(StrEnum):
    """The order of two answers with the same score."""

    GREATER_ID = "greater-id"  # as trec_eval
    LESSER_ID = "lesser-id"  # as trectools


class Result(NamedTuple):
    """One answer of a run."""

    question: str
    answer: str
    score: float
    run: str


def result_of(text: str) -> Result:
    """Return the result in a line; its rank is ignored, as trec_eval does.

    Raises
    ------
    LineFault
        The line has fewer than six columns, or its score isn't a finite number.
    """
    parts = text.split()
    if len(parts) < 6:
        raise LineFault(
            f"expected question, Q0, answer, rank, score and the name of the run, found {len(parts)} columns"
        )
    question, _iteration, answer, _rank, text_score, name = parts[:6]
    try:
        score = c_float(float(text_score.replace("_", "?"))).value  # trec_eval compares so many bits, and reads no _
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise LineFault(f"the score {text_score[:40]!r} isn't a finite number")
    return Result(question, answer, score, name)


def ranked(scores: Mapping[str, float], ties: TieOrder = TieOrder.GREATER_ID) -> list[str]:
    """Return answers, the best first: by score, with ties in a given order; ranks in the file are ignored."""
    return sorted(sorted(scores, reverse=ties is TieOrder.GREATER_ID), key=lambda answer: -scores[answer])
