"""Queries of a log that can be questions: long queries issued by several people within a short time.

The questions of Natural Questions are queries of 8 words or more that several users issued in a short period
(Kwiatkowski et al. 2019, section 3.1). The paper gives neither the number of users nor the period: both are parameters,
and recorded.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NamedTuple

from sources.rules.faults import RecordFault

LEAST_WORDS, LEAST_USERS, WINDOW_HOURS = 8, 2, 24
_QUERY, _USER, _TIME = ("query", "question"), ("user", "user_id"), ("time", "timestamp")
_LAST_SECOND = 253_402_300_799  # of the year 9999


class Query(NamedTuple):
    """A query as it was issued: its text with single spaces, who issued it, and when (in seconds since 1970)."""

    text: str
    user: str
    at: float

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.text.split())


def text_of(row: Mapping[str, Any]) -> str:
    """Return the text of a row of queries or questions, with single spaces.

    Raises
    ------
    RecordFault
        The row has no text.
    """
    return " ".join(str(_value(row, _QUERY)).split())


def query_of(row: Mapping[str, Any]) -> Query:
    """Return the query of a row with ``query``, ``user`` and ``time`` (ISO 8601, or seconds since 1970).

    A time without a zone is UTC.

    Raises
    ------
    RecordFault
        A column is missing, or the time isn't valid.
    """
    return Query(text_of(row), str(_value(row, _USER)).strip(), _seconds(_value(row, _TIME)))


def _value(row: Mapping[str, Any], columns: tuple[str, ...]) -> str | int | float:
    for column in columns:
        value = row.get(column)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return value
    raise RecordFault(columns[0], f"is missing (column {' or '.join(columns)})")


def _seconds(value: str | float) -> float:
    try:
        seconds = float(value)
    except ValueError:
        try:
            said = datetime.fromisoformat(str(value).strip())
        except ValueError:
            raise RecordFault(
                _TIME[0], f"{str(value)[:40]!r} isn't a time: expected ISO 8601 or seconds since 1970"
            ) from None
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    if not isfinite(seconds) or abs(seconds) > _LAST_SECOND:
        raise RecordFault(_TIME[0], f"{str(value)[:40]!r} isn't a time: expected ISO 8601 or seconds since 1970")
    return seconds


def most_users(issued: Iterable[tuple[float, str]], window_seconds: float) -> int:
    """Return the maximum number of different users who issued a query within one window.

    Parameters
    ----------
    issued
        Times and users, in the order of their times. Two times belong to one window if their distance is at most the
        window's length.
    """
    within: Counter[str] = Counter()
    held: list[tuple[float, str]] = []
    first = most = 0
    for at, user in issued:
        held.append((at, user))
        within[user] += 1
        while at - held[first][0] > window_seconds:
            within[held[first][1]] -= 1
            if not within[held[first][1]]:
                del within[held[first][1]]
            first += 1
        most = max(most, len(within))
    return most
