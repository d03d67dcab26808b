"""The labels of a release, recomputed from its votes under another policy or without some votes."""

from collections import defaultdict
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from exports.released.folder import FolderError, ReleasedFolder
from measures.judgments import Repeats, TooManyLabels, judgments_of
from measures.label_models import dawid_skene
from measures.voting import Decided, strict_majority, unique_plurality

COUNTED = "counted"
ROUNDS = (1, 2)
OF_VOTES = ("item_id", "annotator", "state", "round", "rank", "label")
Votes = dict[int, list[Hashable]]  # by round
Vote = tuple[str, str, int, Any]  # item, annotator, round, label


class Revote(StrEnum):
    """The policy for turning votes into labels. If votes don't decide, an expert's opinion does, if there is one."""

    MAJORITY = "majority"  # a strict majority of the first round; no expert
    SECOND = "second"  # else a strict majority of the second round, else the expert (the paper's process)
    POOLED = "pooled"  # else most votes of both rounds, else the expert
    PLURALITY = "plurality"  # most votes of the first round, else the expert
    ALL = "all"  # the expert, else most votes of both rounds
    DAWID_SKENE = "dawid-skene"  # the most probable label, of all votes; no expert


@dataclass(frozen=True)
class Change:
    """An item whose label changed; None means no label."""

    item_id: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Revoted:
    """The new labels by item (None if undecided), the changes, and the released labels of the same items."""

    labels: dict[str, Any]
    changes: list[Change]
    released: dict[str, Any]

    @property
    def undecided(self) -> list[str]:
        """The items that lost their label: in a real campaign, they would have gone to further annotators."""
        return [change.item_id for change in self.changes if change.after is None]


def revote(
    folder: ReleasedFolder, policy: Revote, *, without: Collection[str] = (), without_batches: Collection[int] = ()
) -> Revoted:
    """Return a release's labels under a policy, except for items of ``without_batches`` and items with a shortfall.

    Parameters
    ----------
    without
        Pseudonyms whose votes are left out. The slot of such a vote stays empty: a majority is computed over all slots
        of a round. If one of the votes of a two to one majority is left out, the item is
        undecided; if the other vote is left out, the two that agree still decide.

    Raises
    ------
    FolderError
        The release has no labels, or a file of it is damaged.
    """
    released = {row["item_id"]: row["label"] for row in folder.rows("labels", ("item_id", "label"))}
    places = {
        row["item_id"]: row["votes"] or 0
        for row in folder.rows("items", ("item_id", "votes", "batch", "is_released"))
        if row["is_released"] and row["batch"] not in without_batches
    }
    names: dict[str, str] = {}  # one text for each annotator, and not for each vote
    rows = [
        (row["item_id"], names.setdefault(row["annotator"], row["annotator"]), row["round"], row["label"])
        for row in folder.rows("judgments", OF_VOTES)
        if row["state"] == COUNTED
        and row["item_id"] in places
        and row["annotator"] not in without
        and row["round"] in ROUNDS
        and (row["round"] > 1 or (row["rank"] or 0) < places[row["item_id"]])
    ]
    labels = _most_probable(rows) if policy is Revote.DAWID_SKENE else _by_rule(folder, rows, places, policy)
    found = {item: labels.get(item) for item in places}
    changes = [Change(item, released.get(item), label) for item, label in found.items() if label != released.get(item)]
    return Revoted(found, changes, {item: released.get(item) for item in places})


def _most_probable(rows: list[Vote]) -> dict[str, Any]:
    if not rows:
        return {}
    votes = judgments_of(((item, who, label) for item, who, _round, label in rows), repeats=Repeats.LAST)
    try:
        return dawid_skene(votes).best(votes)
    except TooManyLabels as error:
        raise FolderError(f"the table judgments: {error}") from error


def _by_rule(folder: ReleasedFolder, rows: list[Vote], places: dict[str, int], policy: Revote) -> dict[str, Any]:
    opinions = {row["item_id"]: row["label"] for row in folder.rows("opinions", ("item_id", "label"))}
    votes: dict[str, Votes] = defaultdict(lambda: {1: [], 2: []})
    for item, _who, number, label in rows:
        votes[item][number].append(label)
    return {item: label_of(votes[item], n, opinions.get(item), policy) for item, n in places.items()}


def label_of(votes: Votes, places: int, opinion: Any, policy: Revote) -> Any:
    """Return the label of one item, or None."""
    both = votes[1] + votes[2]
    if policy is Revote.ALL:
        return opinion if opinion is not None else _most(both)
    if policy is Revote.PLURALITY:
        label = _most(votes[1])
        return label if label is not None else opinion
    label = _majority(votes[1], places)
    if label is not None or policy is Revote.MAJORITY:
        return label
    if len(votes[2]):
        label = _most(both) if policy is Revote.POOLED else _majority(votes[2], places)
    return label if label is not None else opinion


def _majority(votes: list[Hashable], places: int) -> Any:
    """Return the label that more than half of a round's slots chose, or None."""
    found = strict_majority(votes, needed=1)
    return found.label if isinstance(found, Decided) and 2 * found.votes > places else None


def _most(votes: list[Hashable]) -> Any:
    found = unique_plurality(votes, needed=1)
    return found.label if isinstance(found, Decided) else None
