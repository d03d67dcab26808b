"""What the charts of a campaign are drawn from, and what each is called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.utils.functional import Promise

from measures.charts.svg import Chart


@dataclass(frozen=True, slots=True)
class Numbers:
    """The snapshots of quality, of work, of studies and of a target, and how to name what is in them."""

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
    """A chart that a campaign has once there is enough to show."""

    title: Promise
    of: Callable[[Numbers, str], Chart | None]
