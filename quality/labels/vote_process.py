"""What the votes on an item come to under a policy: a pure function of what is stored.

The process of the paper (ANTIQUE, section 3.1): three votes; a strict majority decides; else a second round by other
people; else one expert. A campaign can take the label with most votes instead, of as many votes for each item or of more
where there is doubt. Whatever is excluded later, the same function says where the item stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from measures.voting import Decided, TooFew, strict_majority, unique_plurality
from quality.policies.policy import Policy, Process, SecondRound


class Stage(StrEnum):
    """What an item waits for."""

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
    """Where an item stands: its stage and, when it is done, label, rule and the votes that count."""

    stage: Stage
    label: Any = None
    rule: str = ""
    inputs: tuple[int, ...] = ()


def standing(
    first: Sequence[Vote], second: Sequence[Vote], opinion: Any | None, *, needed: int, policy: Policy
) -> Standing:
    """Return where an item stands.

    Parameters
    ----------
    first, second
        The counted votes: of the rounds, or, where votes are bought for a target, the first ones and those bought.
    opinion
        The label an expert gave, or None.
    needed
        How many votes the first round takes.
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
    """Return where an item stands whose first round is complete."""
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
