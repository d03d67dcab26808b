"""Judgments in columns (item, annotator, label), the input of every coefficient and model in this package."""

import math
from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Repeats(StrEnum):
    """How to treat a second judgment of an item by the same annotator. Five public crowds contain such rows."""

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"


MOST_CELLS = 2**26  # half a gigabyte


class LabelsWithoutOrder(ValueError):
    """A computation needs an order of labels, but the labels aren't numbers and their order wasn't stated."""


class TooManyLabels(ValueError):
    """There are so many labels that tables of them would not fit in memory."""


@dataclass(frozen=True, slots=True)
class Judgments:
    """Judgments, at most one per item and annotator.

    Attributes
    ----------
    items, annotators
        The values that the numbers in the columns refer to, in order of first appearance.
    labels
        The labels in their order, smallest first.
    item, annotator, label
        Shape (judgments,): indices into the three above.
    repeated
        The number of rows left out because the annotator judged the item in another row.
    is_ordered
        Whether the order of the labels is meaningful: it was stated, or they are numbers. Otherwise they are sorted as
        text.
    """

    items: tuple[Any, ...]
    annotators: tuple[Any, ...]
    labels: tuple[Any, ...]
    item: Places
    annotator: Places
    label: Places
    repeated: int = 0
    is_ordered: bool = True

    def __len__(self) -> int:
        return len(self.item)

    def check_size(self) -> None:
        """Reject too many labels for label models, which need a labels × labels table for each annotator.

        Raises
        ------
        TooManyLabels
        """
        items, people, labels = len(self.items), len(self.annotators), len(self.labels)
        if max(people * labels * labels, items * labels) > MOST_CELLS:
            raise TooManyLabels(
                f"{labels:,} different labels by {people:,} annotators of {items:,} items: more than {MOST_CELLS:,} cells of "
                "tables. Labels are a small fixed set; is this the right column?"
            )

    def check_order(self) -> None:
        """Reject labels that aren't numbers and whose order wasn't stated.

        Raises
        ------
        LabelsWithoutOrder
        """
        if not self.is_ordered:
            first = next(label for label in self.labels if not is_number(label))
            raise LabelsWithoutOrder(f"{first!r} is not a number, and the order of the labels was not said")

    def counts(self) -> Floats:
        """Return how often each item was given each label, shape (items, labels)."""
        shape = (len(self.items), len(self.labels))
        codes = self.item * shape[1] + self.label
        return np.bincount(codes, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def part(self, keep: NDArray[np.bool_]) -> "Judgments":
        """Return a subset of the judgments; the lists of items, annotators and labels don't change."""
        columns = (self.item[keep], self.annotator[keep], self.label[keep])
        return Judgments(self.items, self.annotators, self.labels, *columns, is_ordered=self.is_ordered)

    def of_items(self, first: int, after: int) -> "Judgments":
        """Return the judgments of a range of items."""
        keep = (self.item >= first) & (self.item < after)
        columns = (self.item[keep] - first, self.annotator[keep], self.label[keep])
        return Judgments(self.items[first:after], self.annotators, self.labels, *columns, is_ordered=self.is_ordered)


class Columns:
    """A growing set of judgments, at most one per item and annotator, stored as numbers with 24 bytes each.

    ``labels`` are all labels in order, smallest first. If empty, the labels that occur are used, as in `judgments_of`.
    """

    def __init__(self, labels: Sequence[Any] = ()) -> None:
        self._order = tuple(labels)
        self._columns = tuple(array("q") for _ in range(3))
        self._items = 0
        self._people: dict[Hashable, int] = {}
        self._labels: dict[Any, int] = {}

    def add(self, item: int, annotator: Hashable, label: Any) -> None:
        """Add a judgment; items are numbers from 0 on."""
        self._items = max(self._items, item + 1)
        person = self._people.setdefault(annotator, len(self._people))
        numbers = (item, person, self._labels.setdefault(label, len(self._labels)))
        for column, number in zip(self._columns, numbers, strict=True):
            column.append(number)

    def judgments(self) -> Judgments:
        """Return the judgments."""
        item, person, label = (
            np.frombuffer(column, dtype=np.int64) if column else np.zeros(0, np.int64) for column in self._columns
        )
        labels, is_ordered = in_order(self._labels) if not self._order else (self._order, True)
        places = {value: place for place, value in enumerate(labels)}
        moved = np.array([places[value] for value in self._labels], dtype=np.int64)
        items = tuple(range(self._items))
        return Judgments(items, tuple(self._people), labels, item, person, moved[label], is_ordered=is_ordered)


def judgments_of(
    rows: Iterable[tuple[Hashable, Hashable, Hashable]],
    *,
    labels: Sequence[Any] | None = None,
    repeats: Repeats = Repeats.REFUSE,
) -> Judgments:
    """Return judgments from rows of item, annotator and label.

    Parameters
    ----------
    labels
        All possible labels, in order. By default the labels that occur: numbers in order of size, otherwise sorted
        as text, which is not a meaningful order.
    repeats
        How to treat further judgments of an item by the same annotator.

    Raises
    ------
    ValueError
        An annotator judged an item twice, and ``repeats`` is ``refuse``.

    Examples
    --------
    >>> found = judgments_of([("a", "ann", 1), ("a", "bo", 3), ("b", "ann", 1)])
    >>> found.labels, found.counts().tolist()
    ((1, 3), [[1.0, 1.0], [1.0, 0.0]])
    """
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return _judgments([_numbered(column) for column in columns], labels, repeats)


def judgments_from(
    frame: "pd.DataFrame", *, labels: Sequence[Any] | None = None, repeats: Repeats = Repeats.REFUSE
) -> Judgments:
    """Return judgments from a table with the columns ``item``, ``annotator`` (or ``worker``) and ``label``.

    Parameters
    ----------
    labels, repeats
        As in `judgments_of`.

    Raises
    ------
    ValueError
        A value is missing (NaN or None), or an annotator judged an item twice and ``repeats`` is ``refuse``.
    KeyError
        A column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": [1, 3, 1]})
    >>> judgments_from(frame).counts().tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    people = "annotator" if "annotator" in frame.columns else "worker"
    numbered = []
    for name in ("item", people, "label"):
        codes, values = frame[name].factorize()
        if (codes < 0).any():  # they would be taken for the last value
            raise ValueError(f"row {frame.index[int(codes.argmin())]} has no {name}: drop such rows first")
        numbered.append((tuple(values.tolist()), codes.astype(np.int64)))
    return _judgments(numbered, labels, repeats)


def _judgments(
    columns: Sequence[tuple[tuple[Any, ...], Places]], labels: Sequence[Any] | None, repeats: Repeats
) -> Judgments:
    """Return judgments from the distinct items, annotators and labels, and each row's indices into these."""
    (items, item), (annotators, annotator), (given, code) = columns
    known, is_ordered = (tuple(labels), True) if labels is not None else in_order(given)
    places = {value: place for place, value in enumerate(known)}
    label = np.array([places[value] for value in given], dtype=np.int64)[code]
    kept = _kept(item * max(1, len(annotators)) + annotator, repeats)
    repeated = len(item) - len(kept)
    if repeated and repeats is Repeats.REFUSE:
        again = int(np.setdiff1d(np.arange(len(item)), kept)[0])
        raise ValueError(
            f"{annotators[annotator[again]]!r} judged {items[item[again]]!r} twice; keep one judgment of each pair"
        )
    return Judgments(items, annotators, known, item[kept], annotator[kept], label[kept], repeated, is_ordered)


def in_order(labels: Iterable[Any]) -> tuple[tuple[Any, ...], bool]:
    """Return labels by size and True if each is a number or a number as text; otherwise sorted as text and False."""
    values = list(labels)
    if all(is_number(value) for value in values):
        return tuple(sorted(values, key=float)), True
    return tuple(sorted(values, key=str)), False


def is_number(label: Any) -> bool:
    """Return whether a label is a finite number, or such a number as text."""
    try:
        return math.isfinite(float(label))
    except (TypeError, ValueError):
        return False


def _numbered(column: Sequence[Hashable]) -> tuple[tuple[Hashable, ...], Places]:
    """Return the distinct values in order of appearance, and each row's index into them."""
    values = tuple(dict.fromkeys(column))
    places = {value: place for place, value in enumerate(values)}
    return values, np.fromiter((places[value] for value in column), dtype=np.int64, count=len(column))


def _kept(pairs: Places, repeats: Repeats) -> Places:
    """Return the positions of the rows to keep: the first or the last of each pair, in their order."""
    ordered = pairs[::-1] if repeats is Repeats.LAST else pairs
    _, first = np.unique(ordered, return_index=True)
    places = len(pairs) - 1 - first if repeats is Repeats.LAST else first
    return np.sort(places)


def effective_number(of: Places) -> float:
    """Return the effective number of annotators (or of items): as many with equally many judgments are equivalent.

    Parameters
    ----------
    of
        The annotator (or item) of each judgment, shape (judgments,), at least one.

    References
    ----------
    L. Kish (1965). Survey sampling. Section 11.7.

    Examples
    --------
    >>> effective_number(np.array([0, 0, 1, 1])), round(effective_number(np.array([0, 0, 0, 1])), 2)
    (2.0, 1.6)
    """
    shares = np.bincount(of) / max(len(of), 1)
    return float(1 / (shares**2).sum())
