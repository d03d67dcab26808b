"""Quality control of people: rules act automatically, and managers decide.

The rules warn and pause, or ask a manager instead of pausing if the policy says so. Only a manager suspends or refuses pay, with a reason for each person, within the
stated time. Without a decision, held pay is released.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.audit import record
from annotation.models import Campaign, Standing, StandingChange
from annotation.people.selectors.standing import notice_for
from annotation.people.services.standing import standing_move
from database.transactions import require_transaction
from measures.drift import limit_for
from measures.drift import score as drift_score
from measures.gold_tests import Assessment, Finding
from quality.models import GoldCheck, Review, ReviewState
from quality.policies.policy import Policy
from workforces.services.messages import person_message
from workforces.services.pay import pay_hold


def assessment_of(*, campaign: Campaign, policy: Policy, surrogate_id: UUID) -> Assessment:
    """Return the result of an annotator's gold checks since a manager last reinstated them.

    The part of the error budget that earlier tests spent stays spent.
    """
    own = GoldCheck.objects.filter(campaign=campaign, surrogate_id=surrogate_id, is_void=False)
    checks = list(own.order_by("pk").values_list("at", "is_hit"))
    reviews = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=ReviewState.REINSTATED)
    # A manager who looked at what was passed alone has forgiven no miss.
    reviews = reviews.filter(Q(evidence__has_key="score") | ~Q(evidence__has_key="passed"))
    breaks = list(reviews.order_by("decided_at").values_list("decided_at", flat=True))
    spent, begin = 0, None
    for until in breaks:
        found = policy.gold_test.assess([hit for at, hit in checks if _lies(at, begin, until)], spent=spent)
        spent, begin = found.passed + 1, until
    return policy.gold_test.assess([hit for at, hit in checks if _lies(at, begin, None)], spent=spent)


def _lies(at: datetime, begin: datetime | None, until: datetime | None) -> bool:
    return (begin is None or at > begin) and (until is None or at <= until)


def person_assess(*, campaign: Campaign, policy: Policy, surrogate_id: UUID, now: datetime) -> Assessment:
    """Warn or pause an annotator if their gold checks require it."""
    require_transaction()
    found = assessment_of(campaign=campaign, policy=policy, surrogate_id=surrogate_id)
    place = campaign.participations.filter(surrogate_id=surrogate_id).first()
    if place is None:  # they left meanwhile: their work leads back to nobody
        return found
    standing = place.standing
    evidence = {"score": round(found.score, 3), "limit": round(found.limit, 3), "checks": found.checks}
    if found.finding is Finding.FAILED and standing in (Standing.ACTIVE, Standing.WARNED):
        evidence["false_suspension_rate"] = policy.gold_test.budget
        person_pause(campaign=campaign, policy=policy, surrogate_id=surrogate_id, now=now, evidence=evidence)
    elif found.finding is Finding.FAILED:
        _add_evidence(campaign, surrogate_id, evidence)
    elif found.finding is Finding.WARN and standing == Standing.ACTIVE:
        standing_move(
            campaign=campaign, surrogate_id=surrogate_id, to=Standing.WARNED, actor_id=None, now=now, **evidence
        )
        person_tell(campaign, surrogate_id, Standing.WARNED, now, evidence)
    elif found.finding is Finding.OPEN and standing == Standing.WARNED and _warned_by_gold(campaign, surrogate_id):
        standing_move(
            campaign=campaign, surrogate_id=surrogate_id, to=Standing.ACTIVE, actor_id=None, now=now, **evidence
        )
    if found.finding is not Finding.FAILED and standing in (Standing.ACTIVE, Standing.WARNED):
        _watch_drift(campaign, policy, surrogate_id, now)
    return found


def _warned_by_gold(campaign: Campaign, surrogate_id: UUID) -> bool:
    """Return whether gold checks caused the person's warning.

    Only such a warning ends through gold checks, not one from a manager or a rule.
    """
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id).order_by("-pk")
    last = changes.values_list("because", flat=True).first()
    return "score" in (last or {})


def _watch_drift(campaign: Campaign, policy: Policy, surrogate_id: UUID, now: datetime) -> None:
    """Open a review of a person with declining accuracy. They can keep working, and their pay isn't held."""
    if not policy.drift_run_length:
        return
    reviews = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    if reviews.filter(state=ReviewState.OPEN).exists():
        return
    looked_at = reviews.order_by("-decided_at").values_list("decided_at", flat=True).first()
    checks = GoldCheck.objects.filter(campaign=campaign, surrogate_id=surrogate_id, is_void=False)
    hits = (checks.filter(at__gt=looked_at) if looked_at else checks).order_by("pk").values_list("is_hit", flat=True)
    score = drift_score(hits, policy.gold_test)
    if score >= limit_for(policy.gold_test, policy.drift_run_length):
        review = Review.objects.create(
            campaign=campaign,
            surrogate_id=surrogate_id,
            opened_at=now,
            decide_by=now + timedelta(hours=policy.decide_hours),
            evidence={"drift": round(score, 3), "run_length": policy.drift_run_length},
        )
        record(action="review_open", subject=review, now=now, actor_id=None, scope_id=campaign.pk, **review.evidence)


def _add_evidence(campaign: Campaign, surrogate_id: UUID, evidence: dict[str, Any]) -> None:
    """Add a person's missed checks to the evidence of their pause, so that one decision covers both."""
    for review in Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=ReviewState.OPEN):
        if "score" not in review.evidence:
            Review.objects.filter(pk=review.pk).update(evidence={**evidence, **review.evidence})


def person_pause(
    *,
    campaign: Campaign,
    policy: Policy,
    surrogate_id: UUID,
    now: datetime,
    evidence: dict[str, Any],
    actor_id: UUID | None = None,
) -> None:
    """Pause an annotator, hold their pay, and open a review with the evidence for a manager.

    If the policy asks a manager first, only the review is opened, unless a manager is the one who pauses.
    """
    require_transaction()
    if actor_id is None and policy.ask_first:
        _ask(campaign, policy, surrogate_id, now, {**evidence, "asked": True})
        return
    standing_move(
        campaign=campaign, surrogate_id=surrogate_id, to=Standing.PAUSED, actor_id=actor_id, now=now, **evidence
    )
    decide_by = now + timedelta(hours=policy.decide_hours)
    pay_hold(campaign=campaign, surrogate_id=surrogate_id, until=decide_by)
    person_tell(campaign, surrogate_id, Standing.PAUSED, now, evidence)
    review, opened = Review.objects.get_or_create(
        campaign=campaign,
        surrogate_id=surrogate_id,
        state=ReviewState.OPEN,
        defaults={"opened_at": now, "decide_by": decide_by, "evidence": evidence},
    )
    if not opened:  # they worked on under it until now
        Review.objects.filter(pk=review.pk).update(evidence={**review.evidence, **evidence}, decide_by=decide_by)


def _ask(campaign: Campaign, policy: Policy, surrogate_id: UUID, now: datetime, evidence: dict[str, Any]) -> None:
    """Open a review of a person who keeps working, or add the evidence to the one that is open."""
    review, opened = Review.objects.get_or_create(
        campaign=campaign,
        surrogate_id=surrogate_id,
        state=ReviewState.OPEN,
        defaults={
            "opened_at": now,
            "decide_by": now + timedelta(hours=policy.decide_hours),
            "evidence": evidence,
        },
    )
    if opened:
        record(action="review_open", subject=review, now=now, actor_id=None, scope_id=campaign.pk, **evidence)
    else:
        Review.objects.filter(pk=review.pk).update(evidence={**review.evidence, **evidence})


def person_tell(
    campaign: Campaign, surrogate_id: UUID, standing: Standing, now: datetime, because: dict[str, Any]
) -> None:
    """Email an annotator about a change of standing, once per change."""
    moves = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    move = moves.order_by("-pk").values_list("pk", flat=True).first()
    person_message(
        campaign=campaign,
        surrogate_id=surrogate_id,
        text=notice_for(standing, because),
        now=now,
        token=f"{standing}-{surrogate_id}-{move}",
    )
