"""Waves: the campaign buys votes and expert judgments for doubtful labels until few enough labels are wrong."""

from datetime import datetime
from math import ceil
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from accounts.audit import record
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, refresh_request
from annotation.models import Campaign, CampaignState, ItemState
from annotation.slots.services.queue import queue_rewind
from annotation.slots.services.slots import votes_add
from jobs.work import Work
from measures.targets import Purchase
from quality.dashboard.services import quality_numbers_version
from quality.experts.services.cases import case_open, parts_of
from quality.labels.selectors.targets import Outlook, is_due, outlook_of, state_of, waves_of
from quality.labels.services.verdicts import items_lock
from quality.models import CaseReason, PolicyVersion, TargetSnapshot, Wave
from quality.policies.policy import Policy, Process, policy_from
from quality.policies.selectors import policy_current

CHUNK = 100
LOOK_SECONDS, REST_SECONDS = 2, 600  # between looks: when a wave could begin, and while votes are on their way
KIND = "quality.waves"


def waves_due(now: datetime) -> None:
    """Queue a look at each campaign that buys votes for a target, if its data changed."""
    versions = PolicyVersion.objects.filter(campaign=OuterRef("pk")).order_by("-version")
    process = Subquery(versions.annotate(process=KeyTextTransform("process", "data")).values("process")[:1])
    campaigns = Campaign.objects.annotate(process=process).filter(process=Process.TARGET)
    for campaign in campaigns.filter(state=CampaignState.OPEN).order_by("pk"):
        refresh_request(
            kind=KIND,
            kept=TargetSnapshot.objects.all(),
            version=target_version,
            seconds=_pause(campaign),
            campaign=campaign,
            now=now,
        )


def _pause(campaign: Campaign) -> float:
    """Return the number of seconds between two looks at a campaign."""
    return LOOK_SECONDS if is_due(campaign) else REST_SECONDS


def target_version(campaign: Campaign) -> str:
    """Return a version that changes whenever the decision about the next wave could change."""
    policy = PolicyVersion.objects.filter(campaign=campaign).order_by("-version").values_list("pk", flat=True).first()
    return f"{policy}-{quality_numbers_version(campaign)}"


def waves_look(*, work: Work, campaign: Campaign) -> dict[str, Any]:
    """Finish the pending wave, store the current state of the campaign, and begin the next wave if one is due."""
    _finish(work, campaign)
    sealed, version, current = sealed_names(campaign), target_version(campaign), policy_current(campaign)
    outlook = outlook_of(campaign) if current and current[1].process is Process.TARGET else None
    if current is None or outlook is None:
        with work.step():
            _keep(campaign, sealed, version, None, {})
        return {}
    found = outlook.next_purchase(current[1].target)
    state = state_of(outlook, found, current[1].target)
    with work.step():
        if outlook.is_filled and (len(found.votes) or len(found.experts)):
            state["spent_cents"] += _begin(campaign, outlook, *current, found)
        _keep(campaign, sealed, version, outlook, state | {"waves": waves_of(campaign)})
    _finish(work, campaign)
    return {"predicted": round(found.predicted, 4)}


def _keep(campaign: Campaign, sealed: list[str], version: str, outlook: Outlook | None, data: dict[str, Any]) -> None:
    kept: dict[str, Any] = {"taken_at": timezone.now(), "version": version, "data": data}
    if outlook is not None:
        kept["calibration"] = outlook.audit
    numbers_keep(TargetSnapshot, campaign=campaign, sealed=sealed, **kept)


def _begin(campaign: Campaign, outlook: Outlook, version: PolicyVersion, policy: Policy, found: Purchase) -> int:
    """Store the wave to buy; return its cost."""
    votes, cases = ([outlook.items[place] for place in places] for places in (found.votes, found.experts))
    last = Wave.objects.filter(campaign=campaign).order_by("-number").first()
    cents = ceil(len(votes) * outlook.vote_cents + len(cases) * policy.target.expert_cents)
    wave = Wave.objects.create(
        campaign=campaign,
        number=last.number + 1 if last else 1,
        policy=version,
        calibration=outlook.audit,
        predicted=found.predicted,
        votes=votes,
        cases=cases,
        cents=cents,
        began_at=timezone.now(),
    )
    record(
        action="wave_begin",
        subject=wave,
        now=wave.began_at,
        actor_id=None,
        scope_id=campaign.pk,
        votes=len(votes),
        cases=len(cases),
        cents=cents,
        predicted=round(found.predicted, 4),
    )
    return cents


def _finish(work: Work, campaign: Campaign) -> None:
    """Open the slots and cases of incomplete waves, a few per transaction.

    A job that was killed continues at the last transaction.
    """
    for wave in Wave.objects.filter(campaign=campaign, is_complete=False).select_related("policy").order_by("number"):
        named = [*wave.votes, *wave.cases]
        while not wave.is_complete:
            until = min(wave.done + CHUNK, len(named))
            with work.step(done=until, total=len(named)):
                _open(wave, named[wave.done : until], votes=max(0, len(wave.votes) - wave.done))
                wave.done, wave.is_complete = until, until == len(named)
                wave.save(update_fields=["done", "is_complete"])


def _open(wave: Wave, named: list[int], *, votes: int) -> None:
    """Open slots for the first ``votes`` of some items and cases for the others; retired items are left out."""
    items = {item.pk: item for item in items_lock(named) if item.state == ItemState.ACTIVE}
    for_votes, for_experts = ([items[pk] for pk in part if pk in items] for part in (named[:votes], named[votes:]))
    policy, now = policy_from(wave.policy.data), timezone.now()
    for item in for_experts:
        case_open(
            item=item, because=CaseReason.DOUBT, experts=policy.experts, parts=parts_of(item), actor_id=None, now=now
        )
    place = votes_add(items=for_votes, most=policy.target.most, wave=wave.number)
    if place is not None:
        queue_rewind(campaign=wave.campaign, order_key=place)
