"""People under quality control: what the rules do by themselves, and what a manager decides.

The rules warn and pause. Only a person suspends or refuses pay, with a reason for each person, within the
stated time; when nobody decides, what was held is paid.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.audit import record
from annotation.models import Annotation, AnnotationState, Campaign, Purpose, Standing, StandingChange
from annotation.services.counting import SUSPENDED, people_lock
from annotation.services.exclusions import annotation_exclude
from annotation.services.people import standing_move
from database.transactions import durable, require_transaction
from jobs.services import job_enqueue
from jobs.work import Work
from measures.drift import limit_for
from measures.drift import score as drift_score
from measures.gold_tests import Assessment, Finding
from quality.models import GoldCheck, Review, ReviewState
from quality.rules.policy import Policy
from workforces.models import WorkforceKind
from workforces.selectors import notice_for, notice_of
from workforces.services.messages import person_message
from workforces.services.pay import pay_hold, pay_release
from workforces.services.refusals import panel_visits_pass, tickets_refuse
from workforces.services.tickets import exclusion_end


class ReviewError(ValueError):
    """A decision cannot be taken as asked."""


def assessment_of(*, campaign: Campaign, policy: Policy, surrogate_id: UUID) -> Assessment:
    """Return what an annotator's gold checks come to, since a manager last reinstated them.

    What the tests before that spent of the error budget stays spent.
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
    """Warn or pause an annotator if their gold checks say so."""
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
    """Return whether gold checks led to the person's warning: those of managers and rules are not theirs to end."""
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id).order_by("-pk")
    last = changes.values_list("because", flat=True).first()
    return "score" in (last or {})


def _watch_drift(campaign: Campaign, policy: Policy, surrogate_id: UUID, now: datetime) -> None:
    """Open a review of a person whose later checks went worse; they work on, and their pay is not held."""
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
    """Put the checks that a person missed beside what they were paused for, so that one decision is about both."""
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
    """Pause an annotator, hold their pay and put them before a manager with what there is to say about it."""
    require_transaction()
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


def person_tell(
    campaign: Campaign, surrogate_id: UUID, standing: Standing, now: datetime, because: dict[str, Any]
) -> None:
    """Write to an annotator whose standing moved, once for each time that it did."""
    moves = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    move = moves.order_by("-pk").values_list("pk", flat=True).first()
    person_message(
        campaign=campaign,
        surrogate_id=surrogate_id,
        text=notice_for(standing, because),
        now=now,
        token=f"{standing}-{surrogate_id}-{move}",
    )


def review_still(review: Review) -> None:
    """Lock the person of a review, and refuse if a list gave it to another a moment ago."""
    people_lock(campaign_id=review.campaign_id, surrogate_ids=[review.surrogate_id])
    if not Review.objects.filter(pk=review.pk, surrogate_id=review.surrogate_id).exists():
        raise ReviewError("their standing changed meanwhile: look again")


def _decision_check(*, suspend: bool, reason: str, refuse_pay: bool) -> None:
    if suspend and not reason.strip():
        raise ReviewError("give the reason: the person will read it")
    if refuse_pay and not suspend:
        raise ReviewError("pay can be refused only to an annotator who is suspended")


@durable
def review_decide(
    *,
    review: Review,
    suspend: bool,
    reason: str,
    refuse_pay: bool,
    actor_id: UUID,
    now: datetime,
    undo_seconds: int = 0,
) -> Review:
    """Decide about an annotator who was paused.

    Suspending leaves their work paid and not counted; refusing pay is a second decision, and
    only what is not paid yet can be refused.

    Raises
    ------
    ReviewError
        The review is decided already, or the reason is missing.
    """
    _decision_check(suspend=suspend, reason=reason, refuse_pay=refuse_pay)
    to = ReviewState.SUSPENDED if suspend else ReviewState.REINSTATED
    review_still(review)
    suspended = review.campaign.participations.filter(surrogate_id=review.surrogate_id, standing=Standing.SUSPENDED)
    if not suspend and suspended.exists():
        raise ReviewError("they are suspended: that is taken back on their own page")
    decided = Review.objects.filter(pk=review.pk, state=ReviewState.OPEN).update(
        state=to, decided_at=now, decided_by_id=actor_id, reason=reason[:1000], refuses_pay=refuse_pay
    )
    if not decided:
        raise ReviewError("this was decided already")
    standing_move(
        campaign=review.campaign,
        surrogate_id=review.surrogate_id,
        actor_id=actor_id,
        now=now,
        reason=reason[:300],
        to=Standing.SUSPENDED if suspend else Standing.ACTIVE,
    )
    pay_release(campaign=review.campaign, surrogate_id=review.surrogate_id)
    if not refuse_pay:
        panel_visits_pass(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
    if suspend:
        _suspend(review, reason, refuse_pay=refuse_pay, actor_id=actor_id, now=now, undo_seconds=undo_seconds)
    else:
        exclusions_end(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
    record(
        action=f"review_{to}",
        subject=review,
        now=now,
        actor_id=actor_id,
        scope_id=review.campaign_id,
        reason=reason[:1000],
        refuses_pay=refuse_pay,
    )
    review.refresh_from_db()
    return review


def exclusions_end(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> None:
    """Let a person be given tickets again wherever they come from."""
    for workforce in campaign.workforces.filter(kind=WorkforceKind.MTURK):
        exclusion_end(workforce=workforce, surrogate_id=surrogate_id, now=now)


def _suspend(
    review: Review, reason: str, *, refuse_pay: bool, actor_id: UUID, now: datetime, undo_seconds: int
) -> None:
    """Take what an annotator did out of the votes, tell them, and refuse what is not paid yet if that was decided."""
    person_message(
        campaign=review.campaign,
        surrogate_id=review.surrogate_id,
        token=f"review-{review.pk}",
        now=now,
        text=f"{notice_of(Standing.SUSPENDED)} {reason}",
    )
    if refuse_pay:
        tickets_refuse(
            campaign=review.campaign,
            surrogate_id=review.surrogate_id,
            reason=reason,
            actor_id=actor_id,
            due_at=now + timedelta(seconds=undo_seconds),
            now=now,
            mark=refusal_mark(review),
        )
    exclusion_request(review=review, actor_id=actor_id, now=now)


def refusal_mark(review: Review) -> str:
    """Return the mark of the refusals that came with a suspension."""
    return f"-review-{review.pk}"


def exclusion_request(*, review: Review, actor_id: UUID | None, now: datetime) -> None:
    """Have all that a suspended person did taken out of the votes by a job."""
    job_enqueue(
        kind="quality.exclude",
        payload={"review": review.pk},
        now=now,
        scope_id=review.campaign_id,
        requested_by_id=actor_id,
        key=f"exclude:{review.pk}",
    )


def person_exclude(*, work: Work, review: Review, now: datetime) -> dict[str, Any]:
    """Take all that a suspended person did out of the votes; it stays paid, its slots reopen."""
    excluded = int(work.job.result.get("excluded", 0))
    while True:
        with work.step(done=excluded, excluded=excluded):
            held = Review.objects.select_for_update(no_key=True).get(pk=review.pk)
            if held.state != ReviewState.SUSPENDED:  # taken back meanwhile
                return {"excluded": excluded}
            rows = list(
                Annotation.objects.filter(
                    campaign=review.campaign, surrogate_id=held.surrogate_id, state=AnnotationState.COUNTED
                )
                .exclude(item__batch__purpose=Purpose.GOLD)
                .order_by("pk")[:20]
            )
            for row in rows:
                annotation_exclude(annotation=row, because=SUSPENDED, actor_id=review.decided_by_id, now=now)
            excluded += len(rows)
        if not rows:
            return {"excluded": excluded}


def reviews_lapse(now: datetime) -> None:
    """Record reviews whose time has passed: the hold on pay ends by itself, the pause stays until a manager decides."""
    due = Review.objects.filter(state=ReviewState.OPEN, decide_by__lt=now).exclude(evidence__has_key="lapsed")
    for review in due.order_by("pk")[:50]:
        with transaction.atomic():
            Review.objects.filter(pk=review.pk).update(evidence={**review.evidence, "lapsed": now.isoformat()})
            panel_visits_pass(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
            record(action="review_lapse", subject=review, now=now, actor_id=None, scope_id=review.campaign_id)
