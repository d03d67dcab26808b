"""Annotators' questions about items, with answers for the asker alone or for everybody."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from annotation.models import HOLDING, Annotation, Assignment, Campaign, FaqEntry, ItemReport

MOST_SHOWN = 20  # of what one person asked
MOST_FAQ = 200


def faq_of(campaign: Campaign) -> QuerySet[FaqEntry]:
    """Return the questions and answers that everybody reads, the newest first."""
    return FaqEntry.objects.filter(campaign=campaign, retired_at=None).order_by("-published_at", "-pk")


def own_questions(campaign: Campaign, surrogate_id: UUID) -> list[ItemReport]:
    """Return what a person asked, the newest first, each with ``is_answered``.

    An answer is shown only after the person has submitted the item. Otherwise it could tell them what to
    annotate, also on an item with a known answer.
    """
    own = ItemReport.objects.filter(item__campaign=campaign, surrogate_id=surrogate_id).select_related("item")
    return list(
        own.annotate(is_answered=ExpressionWrapper(_handed_in(surrogate_id), output_field=BooleanField())).order_by(
            "-pk"
        )[:MOST_SHOWN]
    )


def answers_unread(campaigns: Sequence[Campaign], surrogate_id: UUID) -> QuerySet[ItemReport]:
    """Return the answers to a person that they can read and have not read yet."""
    own = ItemReport.objects.filter(item__campaign__in=campaigns, surrogate_id=surrogate_id, read_at=None)
    return own.exclude(answer="").filter(_handed_in(surrogate_id))


def _handed_in(surrogate_id: UUID) -> Q:
    """Return the condition that the asker of a question has submitted its item and does not hold it again now."""
    own = {"item": OuterRef("item"), "surrogate_id": surrogate_id}
    in_hand = Assignment.objects.filter(**own, state__in=HOLDING)
    return Q(Exists(Annotation.objects.filter(**own))) & ~Q(Exists(in_hand))


def has_read_answer(item_id: int, surrogate_id: UUID) -> bool:
    """Return whether a person has read the reply about an item; after that, they can't change their annotation."""
    return ItemReport.objects.filter(item=item_id, surrogate_id=surrogate_id, read_at__isnull=False).exists()


def author_has_read_answer() -> Exists:
    """Return an expression for queries of annotations: whether the author has read the reply about the item."""
    own = ItemReport.objects.filter(item=OuterRef("item"), surrogate=OuterRef("surrogate"), read_at__isnull=False)
    return Exists(own)


def questions_open(campaign: Campaign) -> QuerySet[ItemReport]:
    """Return the questions without an answer, oldest first."""
    waiting = ItemReport.objects.filter(item__campaign=campaign, resolved_at=None)
    return waiting.select_related("item__batch").order_by("pk")
