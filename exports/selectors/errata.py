"""Content of earlier releases in the same format that is no longer counted, saved while a release is frozen."""

from collections.abc import Iterator
from typing import Any

from django.db.models import OuterRef, Subquery

from annotation.models import AnnotationState, CountedChange
from exports.models import Release, ReleaseVote

NOT_TOLD = "withdrawn"  # why a person left is not ours to publish


def errata_of(release: Release) -> Iterator[tuple[str, str, str]]:
    """Yield (item, annotation, reason) for a release's content that was later excluded, withdrawn or retired."""
    why = CountedChange.objects.filter(annotation=OuterRef("annotation")).order_by("-pk").values("because")[:1]
    rows = ReleaseVote.objects.filter(release=release, is_used=True).exclude(annotation__state=AnnotationState.COUNTED)
    names = ("item__published_id", "annotation__published_id", "annotation__state", "why")
    for item, annotation, state, because in (
        rows.annotate(why=Subquery(why)).order_by("item_id", "annotation_id").values_list(*names).iterator(2000)
    ):
        yield item, annotation, NOT_TOLD if state == AnnotationState.WITHDRAWN else because or state


def errata_before(release: Release) -> list[tuple[int, str, str, str]]:
    """Return the errata of all earlier releases in the same format, each with the release's number."""
    same = Release.objects.filter(campaign=release.campaign_id, family=release.family, ways=release.ways)
    return [
        (before.number, *row)
        for before in same.filter(number__lt=release.number).order_by("number")
        for row in errata_of(before)
    ]


def errata_rows(release: Release) -> Iterator[dict[str, Any]]:
    """Yield the errata that were frozen with a release, as written to its file."""
    for number, item, annotation, why in release.frozen.get("errata", []):
        yield {"annotation_id": annotation, "because": why, "item_id": item, "release": number}
