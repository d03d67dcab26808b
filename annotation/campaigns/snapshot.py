"""The JSON data in `annotation.models.Snapshot` of a campaign: computed by a job, read by pages that count nothing."""

from typing import TypedDict


class PersonNumbers(TypedDict):
    """The submissions of one annotator; ``paths`` counts the paths through the task (`TaskType.path`)."""

    surrogate: str
    counted: int
    late: int
    median_seconds: float | None
    paths: dict[str, int]


class WorkNumbers(TypedDict):
    """The submissions, ordinary work only; ``days`` are the last sixty days with work, as (date, annotations)."""

    annotations: int
    paths: dict[str, int]
    stage_median_seconds: dict[str, float]
    days: list[tuple[str, int]]
    people: list[PersonNumbers]


class SplitNumbers(TypedDict):
    """The active items of a split, and how many annotations each wants.

    Items are ``complete``, or launched and ``incomplete``, or ``drafts`` that aren't launched yet.
    """

    split__name: str
    split__n: int
    items: int
    complete: int
    incomplete: int
    drafts: int


class PilotNumbers(TypedDict):
    """The items of the open pilots, their slots, and how many of those are open and filled."""

    items: int
    slots: int
    open: int
    filled: int


class CampaignNumbers(WorkNumbers):
    """All stored numbers; ``slots`` by state; ``met_by_all`` counts open slots that no annotator here can take.

    ``injected_share`` is the number of answered injections for each other answer.
    """

    slots: dict[str, int]
    injected_share: float
    pilot: PilotNumbers
    met_by_all: int
    splits: list[SplitNumbers]
