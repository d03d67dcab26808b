"""The data and titles of a campaign's charts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.utils.functional import Promise

from measures.charts.svg import Chart


@dataclass(frozen=True, slots=True)
class Numbers:
    """The stored numbers of quality, work, studies and a target, and the names for their keys."""

    quality: Mapping[str, Any]
    work: Mapping[str, Any]
    today: date
    measures: Mapping[str, Any]
    paths: Mapping[str, Any]
    names: Callable[[list[str]], Mapping[str, str]]
    studies: Mapping[str, Any] = field(default_factory=dict)
    target: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    grades: Mapping[str, Any] = field(default_factory=dict)


class Drawing(NamedTuple):
    """A chart of a campaign, available once there is enough data."""

    title: Promise
    of: Callable[[Numbers, str], Chart | None]
