"""The merge of quality data when two surrogates turn out to be one annotator."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Min, OuterRef

from accounts.audit import record
from annotation.models import Annotation, Campaign, Standing
from quality.models import GoldCheck, Review, ReviewState, RuleFiring
from quality.people.services.reviews import exclusion_request
from quality.people.services.suspensions import suspension_of
from workforces.models import PayHold
from workforces.services.pay import pay_hold, pay_refusal_move, pay_release


def checks_join(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move the gold checks to the surrogate that received the work.

    What rules did about the visit moves to the person, too.
    """
    checks = GoldCheck.objects.filter(campaign=campaign, surrogate_id=before)
    checks.update(surrogate_id=Annotation.objects.filter(pk=OuterRef("annotation")).values("surrogate_id")[:1])
    RuleFiring.objects.filter(rule__campaign=campaign, surrogate_id=before).update(surrogate_id=after)


def reviews_join(*, campaign: Campaign, before: UUID, after: UUID, now: datetime, **_: Any) -> None:
    """Move a visit's reviews and held pay to the person, who already has the visit's standing.

    At most one review stays open, with the evidence of all; none if the person is suspended. If the visit was
    suspended, its work is excluded.
    """
    for review in Review.objects.filter(campaign=campaign, surrogate_id=before, state=ReviewState.SUSPENDED):
        Review.objects.filter(pk=review.pk).update(surrogate_id=after)
        exclusion_request(review=review, actor_id=review.decided_by_id, now=now)
    kept = _merged(campaign, before, after, now)
    holds = PayHold.objects.filter(campaign=campaign, surrogate_id__in=[before, after], until__gt=now)
    until = holds.aggregate(until=Min("until"))["until"]  # the earlier: nobody's pay waits longer than they were told
    pay_release(campaign=campaign, surrogate_id=before)
    pay_refusal_move(campaign=campaign, before=before, after=after)
    if kept is None or until is None:
        pay_release(campaign=campaign, surrogate_id=after)
    else:
        pay_hold(campaign=campaign, surrogate_id=after, until=until)
        Review.objects.filter(pk=kept.pk).update(decide_by=until)


def _merged(campaign: Campaign, before: UUID, after: UUID, now: datetime) -> Review | None:
    """Merge the open reviews of a visit and its person into one, and return it.

    If the person is suspended, no review stays open, and the result is None.
    """
    reviews = Review.objects.filter(campaign=campaign, surrogate_id__in=[before, after], state=ReviewState.OPEN)
    opened = list(reviews.order_by("pk"))
    if not opened:
        return None
    is_suspended = campaign.participations.filter(surrogate_id=after, standing=Standing.SUSPENDED).exists()
    suspension = suspension_of(campaign=campaign, surrogate_id=after) if is_suspended else None
    kept = suspension or opened[0]
    evidence = {key: value for review in opened for key, value in review.evidence.items()} | kept.evidence
    rest = [review.pk for review in opened if review.pk != kept.pk]
    Review.objects.filter(pk__in=rest).delete()  # first: a person has one open review
    Review.objects.filter(pk=kept.pk).update(surrogate_id=after, evidence=evidence)
    if rest:
        record(action="review_join", subject=kept, now=now, actor_id=None, scope_id=campaign.pk, joined=rest)
    return None if suspension else kept
