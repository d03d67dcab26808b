"""Turn the labels of one item into a verdict, or into a reason for not having one.

The rule of a round is a strict majority, as in ANTIQUE (Hashemi et al. 2020, section 3.3: a label that
at least two of three workers chose). Over both rounds together ("pooled"), a label wins if it is more
frequent than every other label. A tie is a separate result: no function silently picks a winner.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Label = TypeVar("Label", bound=Hashable)


@dataclass(frozen=True)
class Decided(Generic[Label]):
    """One label won; ``votes`` of ``of`` were for it."""

    label: Label
    votes: int
    of: int


@dataclass(frozen=True)
class NoAgreement(Generic[Label]):
    """There were enough votes, but no label won; ``tied`` are the most frequent labels, in the order given."""

    tied: tuple[Label, ...]
    votes: int
    of: int


@dataclass(frozen=True)
class TooFew:
    """There are fewer votes than the rule needs."""

    of: int
    needed: int


Outcome = Decided[Label] | NoAgreement[Label] | TooFew


def strict_majority(labels: Sequence[Label], *, needed: int) -> Outcome[Label]:
    """Return the label that more than half of the votes chose.

    Parameters
    ----------
    labels
        One vote per person; their order doesn't affect which label wins.
    needed
        The number of votes for a verdict.

    Examples
    --------
    >>> strict_majority([3, 3, 1], needed=3)
    Decided(label=3, votes=2, of=3)
    >>> strict_majority([3, 2, 1], needed=3)
    NoAgreement(tied=(3, 2, 1), votes=1, of=3)
    """
    return _count(labels, needed=needed, strict=True)


def unique_plurality(labels: Sequence[Label], *, needed: int) -> Outcome[Label]:
    """Return the label that more votes chose than any other.

    Examples
    --------
    >>> unique_plurality([3, 3, 2, 1, 4], needed=3)
    Decided(label=3, votes=2, of=5)
    >>> unique_plurality([3, 3, 2, 2, 4], needed=3)
    NoAgreement(tied=(3, 2), votes=2, of=5)
    """
    return _count(labels, needed=needed, strict=False)


def _count(labels: Sequence[Label], *, needed: int, strict: bool) -> Outcome[Label]:
    if needed < 1:
        raise ValueError("a verdict takes at least one vote")
    if len(labels) < needed:
        return TooFew(len(labels), needed)
    counts = Counter(labels)
    most = max(counts.values())
    tied = tuple(label for label in dict.fromkeys(labels) if counts[label] == most)
    wins = 2 * most > len(labels) if strict else len(tied) == 1
    return Decided(tied[0], most, len(labels)) if wins else NoAgreement(tied, most, len(labels))
