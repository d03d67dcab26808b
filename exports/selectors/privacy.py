"""Whom the judgments of a release could lead to: those who did little, and those who were alone at something."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr

from annotation.models import PUBLISHED
from exports.models import Release


@dataclass(frozen=True)
class Privacy:
    """Who gets a pseudonym of their own for each judgment, by the text of their surrogate, and what a reader is told of it.

    A person with a handful of judgments is easily recognized by those who know when they took part; one recognized
    judgment would give the others away if they shared a pseudonym.
    """

    rare: frozenset[str] = frozenset()
    report: dict[str, Any] = field(default_factory=dict)


def privacy_of(release: Release) -> Privacy:
    """Return who is rare in a release, and the days, ways and guideline versions that one person alone has."""
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
