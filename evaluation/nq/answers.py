"""Answers as the official evaluation compares them: exactly, by bytes or by tokens.

(google-research-datasets/natural-questions, the documentation of nq_eval; Kwiatkowski et al. 2019, section 5.1.)
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

Span = tuple[int, int, int, int]  # start and end byte, start and end token; -1 where it is not known
YES_NO = ("yes", "no", "none")
NONE = "none"
OFFSETS = ("start_byte", "end_byte", "start_token", "end_token")


class AnswerFault(ValueError):
    """A value isn't a valid answer; the message gives the reason, ``field`` the location."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class Gold(NamedTuple):
    """One annotation. ``long`` is None without a long answer; ``shorts`` is empty without short answers."""

    long: Span | None
    shorts: tuple[Span, ...]
    yes_no: str

    @property
    def has_short(self) -> bool:
        """Whether there is a short answer: spans, yes or no."""
        return bool(self.shorts) or self.yes_no != NONE


class Prediction(NamedTuple):
    """A system's answers to an example, with the scores that are compared with thresholds."""

    long: Span | None
    shorts: tuple[Span, ...]
    yes_no: str
    long_score: float
    short_score: float

    @property
    def has_short(self) -> bool:
        """Whether there is a short answer: spans, yes or no."""
        return bool(self.shorts) or self.yes_no != NONE


def span_of(value: Any, field: str) -> Span | None:
    """Return a span, None for a null one.

    Raises
    ------
    AnswerFault
        An offset is missing or isn't an integer, only one end is null, or the span is empty.
    """
    if not isinstance(value, dict):
        raise AnswerFault(field, "expected an object with four offsets")
    try:
        offsets = value["start_byte"], value["end_byte"], value["start_token"], value["end_token"]
    except KeyError as error:
        raise AnswerFault(f"{field}.{error.args[0]}", "is missing; -1 says that it is not known") from None
    return span_at(offsets, field)


def span_at(offsets: tuple[Any, ...], field: str) -> Span | None:
    """Return the span from its start byte, end byte, start token and end token; None for a null span.

    Raises
    ------
    AnswerFault
        An offset isn't an integer, only one end is null, or the span is empty.
    """
    start_byte, end_byte, start_token, end_token = offsets
    if type(start_byte) is type(end_byte) is type(start_token) is type(end_token) is int:
        if 0 <= start_byte < end_byte and 0 <= start_token < end_token:  # nearly all are: there are millions
            return offsets
        if start_byte < 0 and end_byte < 0 and start_token < 0 and end_token < 0:
            return None
    return _incomplete(offsets, field)


def _incomplete(offsets: tuple[Any, ...], field: str) -> Span:
    """Return a span that has only byte or only token offsets; raise `AnswerFault` if the offsets are invalid."""
    for name, offset in zip(OFFSETS, offsets, strict=True):
        if type(offset) is not int:
            raise AnswerFault(f"{field}.{name}", "expected a whole number")
    for kind, start, end in (("byte", *offsets[:2]), ("token", *offsets[2:])):
        if (start < 0) != (end < 0):
            raise AnswerFault(field, f"one end is null by {kind}, the other is not")
        if start >= 0 and start >= end:
            raise AnswerFault(field, f"starts at {kind} {start} and ends at {end}: it is empty")
    return offsets


def is_same(one: Span, other: Span) -> bool:
    """Return whether two spans have equal byte or equal token offsets, where both spans have them."""
    return (one[0] >= 0 and one[:2] == other[:2]) or (one[2] >= 0 and one[2:] == other[2:])


def are_same(some: Iterable[Span], others: Iterable[Span]) -> bool:
    """Return whether two lists contain the same spans; order and repetitions don't matter."""
    ours, theirs = tuple(some), tuple(others)
    return all(any(is_same(a, b) for b in theirs) for a in ours) and all(
        any(is_same(a, b) for a in ours) for b in theirs
    )
