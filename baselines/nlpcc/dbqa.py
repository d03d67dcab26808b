"""BM25 over characters and pairs of characters, for the sentences of document-based questions: no word segmenter is needed."""

import logging
from collections.abc import Iterator, Sequence

from evaluation.nlpcc.dbqa import Pair
from sources.bm25 import K1, B


def bm25_scores(pairs: Sequence[Pair]) -> list[float]:
    """Return the score of each sentence for its question; inverse document frequencies are over all sentences."""
    import bm25s  # noqa: PLC0415  half a second, and numpy

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    terms = [list(terms_of(pair.sentence)) for pair in pairs]
    known = {term for own in terms for term in own}
    if not known:
        return [0.0] * len(pairs)
    model = bm25s.BM25(k1=K1, b=B, method="lucene")
    model.index(terms, show_progress=False)
    scores: list[float] = []
    for start, end in questions_of(pairs):
        asked = [term for term in terms_of(pairs[start].question) if term in known]
        scores += model.get_scores(asked)[start:end].tolist() if asked else [0.0] * (end - start)
    return scores


def questions_of(pairs: Sequence[Pair]) -> Iterator[tuple[int, int]]:
    """Yield the half-open range of each question's pairs, which follow one another."""
    start = 0
    for place in range(1, len(pairs) + 1):
        if place == len(pairs) or pairs[place].question != pairs[start].question:
            yield start, place
            start = place


def terms_of(text: str) -> Iterator[str]:
    """Yield the characters of a text, in lower case and without white space, and the pairs of neighbors."""
    signs = "".join(text.lower().split())
    yield from signs
    yield from (signs[place : place + 2] for place in range(len(signs) - 1))
