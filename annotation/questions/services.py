"""Annotators' questions, the answers, and the published questions and answers."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from annotation.models import AssignmentState, Campaign, FaqEntry, Item, ItemReport, Purpose
from annotation.questions.selectors import answers_unread
from annotation.work.services.assignments import AssignmentOver, assignment_of
from database.transactions import durable, require_transaction
from web.errors import KeyedError

MOST_CHARACTERS = 4000
MOST_REPORTS = 3  # of one item by one annotator


class QuestionError(KeyedError):
    """A question can't be answered this way; the manager reads the reason."""


@durable
def item_report(*, assignment_id: UUID, surrogate_id: UUID, text: str, now: datetime) -> bool:
    """Record an annotator's question or problem report about an item; managers see it, and the work continues.

    After a few reports on one item by one annotator, more aren't kept: nobody would read them. Return whether it is.
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    if assignment.state not in (AssignmentState.LIVE, AssignmentState.EXPIRED):
        raise AssignmentOver(assignment.state)
    if ItemReport.objects.filter(item_id=assignment.item_id, surrogate_id=surrogate_id).count() >= MOST_REPORTS:
        return False
    report = ItemReport.objects.create(
        item_id=assignment.item_id, surrogate_id=surrogate_id, text=text[:1000], created_at=now
    )
    # Who reported stands in the report alone, so that a withdrawal can unlink it.
    record(action="item_report", subject=report, now=now, actor_id=None, scope_id=assignment.campaign_id)
    return True


@durable
def question_answer(*, report: ItemReport, answer: str, faq: str, actor_id: UUID, now: datetime) -> FaqEntry | None:
    """Answer an annotator; with an empty answer, close the question.

    With ``faq``, a wording of the question that doesn't reveal the item, publish both to all annotators.

    Raises
    ------
    QuestionError
        It was closed already, there is nothing to publish, or it is about a known answer, which can't be published.
    """
    settled = ItemReport.objects.filter(pk=report.pk, resolved_at=None).update(
        resolved_at=now, answer=answer[:MOST_CHARACTERS], answered_by_id=actor_id
    )
    if not settled:
        raise QuestionError("question_settled")
    record(action="question_answer", subject=report, now=now, actor_id=actor_id, scope_id=report.item.campaign_id)
    if not faq:
        return None
    return _publish(
        campaign=report.item.campaign, item=report.item, question=faq, answer=answer, actor_id=actor_id, now=now
    )


@durable
def faq_publish(*, campaign: Campaign, question: str, answer: str, actor_id: UUID, now: datetime) -> FaqEntry:
    """Publish a question that no annotator asked here."""
    return _publish(campaign=campaign, item=None, question=question, answer=answer, actor_id=actor_id, now=now)


def _publish(
    *, campaign: Campaign, item: Item | None, question: str, answer: str, actor_id: UUID, now: datetime
) -> FaqEntry:
    require_transaction()
    if not (question.strip() and answer.strip()):
        raise QuestionError("faq_incomplete")
    if item is not None and item.batch.purpose == Purpose.GOLD:
        raise QuestionError("question_about_gold")
    entry = FaqEntry.objects.create(
        campaign=campaign, item=item, question=question[:1000], answer=answer[:MOST_CHARACTERS], published_at=now
    )
    record(action="faq_publish", subject=entry, now=now, actor_id=actor_id, scope_id=campaign.pk)
    return entry


@durable
def faq_retire(*, entry: FaqEntry, actor_id: UUID, now: datetime) -> bool:
    """Unpublish an entry; it is kept for the record."""
    retired = FaqEntry.objects.filter(pk=entry.pk, retired_at=None).update(retired_at=now)
    if retired:
        record(action="faq_retire", subject=entry, now=now, actor_id=actor_id, scope_id=entry.campaign_id)
    return bool(retired)


@durable
def answers_read(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> None:
    """Record that a person has seen the answers to their questions."""
    keys = list(answers_unread([campaign], surrogate_id).values_list("pk", flat=True))
    ItemReport.objects.filter(pk__in=keys).update(read_at=now)
