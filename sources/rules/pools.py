"""Pools: the answers to a question to be judged, from several systems' results and the question's own answers.

ANTIQUE's test set was pooled (Hashemi et al. 2020, section 3.1): the best k answers of each system, together.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sources.trec import TieOrder, ranked

Scores = Mapping[str, Mapping[str, float]]  # by question and answer


class Depth(NamedTuple):
    """The number of answers to take from each run, and the treatment of ties."""

    k: int
    ties: TieOrder = TieOrder.GREATER_ID
    whole_ties: bool = False  # take all answers with the score of the k-th


class Taken(NamedTuple):
    """The answers taken from a run for a question, the best first.

    ``cut_ties`` is the number of answers left out although they have the score of the last one.
    """

    answers: list[str]
    cut_ties: int  # answers that score as the last one that is taken, and are not taken


def taken(scores: Mapping[str, float], depth: Depth) -> Taken:
    """Return the best answers of a run to a question."""
    order = ranked(scores, depth.ties)
    best = order[: depth.k]
    like_last = [answer for answer in order[depth.k :] if scores[answer] == scores[best[-1]]]
    return Taken(best + like_last, 0) if depth.whole_ties else Taken(best, len(like_last))


class Pooled(NamedTuple):
    """An answer of the pool: the runs with it, its rank in each, and whether it is one of the question's own."""

    answer: str
    brought: dict[str, int]
    is_own: bool


def pool(takens: Mapping[str, Taken], own: Sequence[str], without: Sequence[str] = ()) -> Iterator[Pooled]:
    """Yield each answer to a question once, in the order of its id.

    Parameters
    ----------
    takens
        The answers taken, by run.
    own
        The question's own answers, which are judged whether a system returned them or not.
    without
        Answers that aren't judged: the asker's best answer, which already has its label.
    """
    brought: dict[str, dict[str, int]] = {answer: {} for answer in own}
    for run, found in takens.items():
        for place, answer in enumerate(found.answers, 1):
            brought.setdefault(answer, {})[run] = place
    for answer in sorted(brought.keys() - set(without)):
        yield Pooled(answer, brought[answer], answer in own)
