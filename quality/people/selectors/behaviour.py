"""Statistics on how people of a campaign work: signals that tell managers whose work to check first."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, F, Q, TextField
from django.db.models.functions import Cast, Coalesce, Length

from accounts.selectors import people_told_of_behaviour
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import (
    ORDINARY,
    Annotation,
    AnnotationState,
    Campaign,
    EventTally,
    Item,
    ItemState,
    Participation,
)
from annotation.tasktypes.base import FollowedUp, Written
from annotation.tasktypes.registry import TASK_TYPES
from measures.behaviour import Signal, known_by_gold, leaving, pace, pasting, pointed_at, sameness, twins, untrusted
from measures.judgments import Repeats, judgments_of
from quality.gold.selectors import checks_held
from quality.labels.selectors.answers import Said, answers_as_text

MOST_SHOWN = 200
LEAST_SIGNS = 10  # of pasted text in an answer: less is a name or a word


class Row(NamedTuple):
    """The content of one annotation: its path, its value by each measure of the task type, and its duration."""

    item: int
    who: str
    path: str
    values: list[tuple[int, Any]]
    seconds: float


def behaviour_of(campaign: Campaign) -> dict[str, Any]:
    """Return the signals, each with the people it flags, and how often it flags people known to be good and bad.

    Reads every annotation, so use it only in jobs and commands. People who left are excluded.
    """
    rows = list(_rows(campaign))
    found = {
        "pace": _pace(campaign, rows),
        "sameness": sameness((row.item, row.who, row.path) for row in rows),
        "twins": _twins(rows),
        "untrusted": _untrusted(campaign, rows),
    }
    if isinstance(TASK_TYPES[campaign.task_type], Written):
        found["pasting"] = pasting(_tallied(campaign, rows, Q(pasted__gte=LEAST_SIGNS)))
        found["leaving"] = leaving(_tallied(campaign, rows, Q(left__gt=0), everybody=True))
    known = _known(campaign)
    return {
        "compared": len({row.who for row in rows}),
        "signals": [{"key": key, **pointed_at(signals, known)} for key, signals in found.items()],
        "people": _ranked(found, known),
    }


def _rows(campaign: Campaign) -> Iterable[Row]:
    """Yield the submissions on ordinary items in order.

    Includes only present people who were told that their work is compared.
    """
    told = people_told_of_behaviour(scope_id=campaign.pk)
    here = Participation.objects.filter(campaign=campaign, surrogate__in=told)
    keys = list(here.values_list("surrogate_id", flat=True))
    people = {text: str(key) for key in keys for text in (str(key), key.hex)}  # databases write them in either way
    rows = Annotation.objects.filter(unsealed(), campaign=campaign, item__batch__purpose__in=ORDINARY)
    rows = rows.exclude(state__in=[AnnotationState.PROVISIONAL, AnnotationState.GIVEN_UP, AnnotationState.UNDONE])
    rows = rows.annotate(time=Coalesce(F("active_seconds"), F("seconds")))
    said = Said(TASK_TYPES[campaign.task_type])
    for item, who, text, time in answers_as_text(rows, "time"):
        if who in people:
            yield Row(item, people[who], *said.of(text), time)


def _pace(campaign: Campaign, rows: list[Row]) -> dict[str, Signal]:
    if not rows:
        return {}
    lengths = Item.objects.filter(campaign=campaign).annotate(length=Length(Cast("content", TextField())))
    length_of = dict(lengths.values_list("pk", "length").iterator(chunk_size=2000))
    people = {who: place for place, who in enumerate(dict.fromkeys(row.who for row in rows))}
    items = {item: place for place, item in enumerate(dict.fromkeys(row.item for row in rows))}
    found = pace(
        np.array([items[row.item] for row in rows]),
        np.array([people[row.who] for row in rows]),
        np.array([row.seconds for row in rows], dtype=float),
        np.array([length_of[row.item] for row in rows], dtype=float),
    )
    names = list(people)
    return {names[place]: signal for place, signal in found.items()}


def _twins(rows: list[Row]) -> dict[str, Signal]:
    """Compare the complete answers of every two people."""
    labels: dict[Any, int] = {}
    judged = [(row.item, row.who, labels.setdefault((row.path, *row.values), len(labels))) for row in rows]
    return twins(judgments_of(judged, repeats=Repeats.LAST))


def _untrusted(campaign: Campaign, rows: list[Row]) -> dict[str, Signal]:
    return untrusted(_tallied(campaign, rows, Q(untrusted__gt=0)))


def _tallied(campaign: Campaign, rows: list[Row], wanted: Q, *, everybody: bool = False) -> dict[str, tuple[int, int]]:
    """Return for each person the number of items with such log events, and the number of answered items."""
    tallies = EventTally.objects.filter(wanted, assignment__campaign=campaign)
    counts = tallies.values_list("assignment__surrogate").annotate(n=Count("pk")).order_by("assignment__surrogate")
    answers = Counter(row.who for row in rows)
    found = {str(who): (n, max(n, answers[str(who)])) for who, n in counts if str(who) in answers}
    return {**{who: (0, n) for who, n in answers.items() if everybody}, **found}


def _known(campaign: Campaign) -> dict[str, bool]:
    """Return the people known to be good or bad.

    They are known by their gold checks, or, if others review answers, by their number of refused answers.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if isinstance(task_type, FollowedUp):
        return known_by_gold((who, len(row), sum(row)) for who, row in _reviews(campaign, task_type).items())
    checks = checks_held(campaign).values_list("surrogate").order_by("surrogate")
    rows = checks.annotate(n=Count("pk"), hits=Count("pk", filter=Q(is_hit=True)))
    return known_by_gold((str(who), n, hits) for who, n, hits in rows)


def _reviews(campaign: Campaign, task_type: FollowedUp) -> dict[str, list[bool]]:
    """Return for each person whether each of their reviewed answers was accepted by the reviewer."""
    rows = Annotation.objects.filter(
        unsealed(),
        campaign=campaign,
        state=AnnotationState.COUNTED,
        item__follows__isnull=False,
        item__state=ItemState.ACTIVE,
    )
    found = defaultdict(list)
    for who, content, answer in rows.values_list("item__follows__surrogate", "item__content", "answer").iterator(2000):
        asked, _outcome = task_type.outcome(content, answer)
        if asked == task_type.reviewing:  # a blind answer is about the question, and follows the person who reviewed it
            found[str(who)].append(task_type.refusal(content, answer) is None)
    return found


def _ranked(found: dict[str, dict[str, Signal]], known: dict[str, bool]) -> list[dict[str, Any]]:
    """Return the people flagged by signals; those with the most signals come first."""
    people: dict[str, dict[str, Any]] = defaultdict(dict)
    for key, signals in found.items():
        for who, signal in signals.items():
            if signal.is_striking:
                people[who][key] = dict(signal.numbers)
    order = sorted(people, key=lambda who: (-len(people[who]), who))
    return [{"surrogate": who, "gold": known.get(who), "signals": people[who]} for who in order[:MOST_SHOWN]]
