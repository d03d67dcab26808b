"""BM25 (Robertson et al. 1994, as Lucene computes it), with the library bm25s."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sources.rules.terms import terms_of

K1, B = 1.2, 0.75


class Ranked(NamedTuple):
    """The answers that share a term with a question, the best first, with their scores."""

    question: str
    answers: list[tuple[str, float]]


def bm25_rankings(
    collection: Mapping[str, str], questions: Mapping[str, str], *, depth: int, k1: float = K1, b: float = B
) -> Iterator[Ranked]:
    """Yield the best answers of a collection to each question.

    Parameters
    ----------
    collection, questions
        Texts by id.
    depth
        The maximum number of answers per question; ties are ordered by descending id, as trec_eval ranks them.
    """
    import bm25s  # noqa: PLC0415  half a second, and numpy

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it says what it builds
    ids = sorted(collection, reverse=True)
    terms_by_place = [terms_of(collection[one]) for one in ids]
    known = {term for terms in terms_by_place for term in terms}
    model = bm25s.BM25(k1=k1, b=b, method="lucene")
    if known:
        model.index(terms_by_place, show_progress=False)
    for question, text in questions.items():
        terms = [term for term in terms_of(text) if term in known]
        best = _best(model.get_scores(terms), depth) if terms else ()
        yield Ranked(question, [(ids[place], score) for place, score in best])


def _best(scores: Any, depth: int) -> Iterator[tuple[int, float]]:
    """Yield indices and scores of the best scores above 0; of equal scores, the earlier one comes first."""
    import numpy as np  # noqa: PLC0415

    least = np.partition(scores, -depth)[-depth] if depth < len(scores) else 0
    places = np.flatnonzero((scores >= least) & (scores > 0))
    for place in places[np.argsort(-scores[places], kind="stable")][:depth]:
        yield int(place), float(scores[place])
