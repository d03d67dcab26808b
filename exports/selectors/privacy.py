"""Re-identification risk in a release: people with few judgments, and people who were the only ones on a day."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr

from annotation.models import PUBLISHED
from exports.models import Release


@dataclass(frozen=True)
class Privacy:
    """The people (surrogate ids as text) who get a pseudonym per judgment, and a report for readers.

    Someone who knows when a person with few judgments took part can easily recognize one of the judgments. With a
    shared pseudonym, this would reveal the person's other judgments too.
    """

    rare: frozenset[str] = frozenset()
    report: dict[str, Any] = field(default_factory=dict)


def privacy_of(release: Release) -> Privacy:
    """Return the people with few judgments, and the number of days, workforces and guidelines with one person."""
    below = release.rare_below
    votes = release.votes.exclude(annotation__via=PUBLISHED).annotate(
        who=Cast("annotation__surrogate_id", CharField()),
        day=Substr(Cast("annotation__submitted_at", CharField()), 1, 10),
    )
    groups = votes.values_list("who", "day", "annotation__via", "annotation__guideline__version").order_by()
    made: Counter[str] = Counter()
    people: dict[str, dict[Any, set[str]]] = {name: defaultdict(set) for name in ("days", "ways", "guideline_versions")}
    for who, *values, count in groups.annotate(n=Count("pk")):
        made[who] += count
        for found, value in zip(people.values(), values, strict=True):
            found[value].add(who)
    rare = frozenset(who for who, count in made.items() if count < below)
    return Privacy(
        rare,
        {
            "rare_below": below,
            "rare_judgments": sum(made[who] for who in rare),
            "annotators": len(made) - len(rare),
            "alone": {name: sum(len(who) == 1 for who in found.values()) for name, found in people.items()},
        },
    )
