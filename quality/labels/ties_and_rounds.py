"""How votes decide: a majority, a tie, a second round, an expert. A pure function of stored data and the policy.

The process of the paper (ANTIQUE, section 3.1): three votes, decided by a strict majority; else a second round by
other people; else one expert. A campaign can instead take the most frequent label, from the same number of votes for
each item or from more where labels are doubtful. After later exclusions, the same function gives the new standing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from measures.voting import Decided, TooFew, strict_majority, unique_plurality
from quality.policies.policy import Policy, Process, SecondRound


class Stage(StrEnum):
    """The next thing that an item needs."""

    FIRST = "first"
    SECOND = "second"
    MORE = "more"  # votes that are bought in waves
    EXPERT = "expert"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Vote:
    """One counted annotation: its key and its label."""

    key: int
    label: Any


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of an item: its stage and, if it is done, its label, rule and counted votes."""

    stage: Stage
    label: Any = None
    rule: str = ""
    inputs: tuple[int, ...] = ()


def standing(
    first: Sequence[Vote], second: Sequence[Vote], opinion: Any | None, *, needed: int, policy: Policy
) -> Standing:
    """Return the standing of an item.

    Parameters
    ----------
    first, second
        The counted votes of the two rounds. If votes are bought for a target: the first votes and the bought ones.
    opinion
        The label given by an expert, or None.
    needed
        The number of votes in the first round.
    """
    if len(first) < needed:
        return Standing(Stage.FIRST)
    if policy.process is Process.PAPER:
        return _by_rounds(first, second, opinion, needed=needed, rule=policy.second_round)
    votes = (*first, *second) if policy.process is Process.TARGET else tuple(first)
    keys = tuple(sorted(vote.key for vote in votes))
    outcome = unique_plurality([vote.label for vote in votes], needed=needed)
    if policy.process is Process.TARGET and opinion is not None:  # what votes leave doubtful goes to experts
        return Standing(Stage.DONE, opinion, "expert", keys)
    if isinstance(outcome, Decided):
        return Standing(Stage.DONE, outcome.label, "plurality", keys)
    if policy.process is Process.TARGET:
        return Standing(Stage.MORE)
    return Standing(Stage.DONE, opinion, "expert", keys) if opinion is not None else Standing(Stage.EXPERT)


def _by_rounds(
    first: Sequence[Vote], second: Sequence[Vote], opinion: Any | None, *, needed: int, rule: SecondRound
) -> Standing:
    """Return the standing of an item whose first round is complete."""
    keys = tuple(sorted(vote.key for vote in first))
    outcome = strict_majority([vote.label for vote in first], needed=needed)
    if isinstance(outcome, Decided):
        return Standing(Stage.DONE, outcome.label, "majority", keys)
    again = strict_majority([vote.label for vote in second], needed=needed)
    if isinstance(again, TooFew):
        return Standing(Stage.SECOND)
    # The first round is named too: that it had no majority is why the second counts.
    both = tuple(sorted(vote.key for vote in (*first, *second)))
    if rule is SecondRound.POOLED:
        again = unique_plurality([vote.label for vote in (*first, *second)], needed=2 * needed)
    if isinstance(again, Decided):
        return Standing(Stage.DONE, again.label, "pooled" if rule is SecondRound.POOLED else "second", both)
    if opinion is None:
        return Standing(Stage.EXPERT)
    return Standing(Stage.DONE, opinion, "expert", both)
