"""Creating, changing, opening and closing campaigns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.validators import slug_re
from django.db.models import Max

from accounts.audit import record
from accounts.models import Role, Scope, User
from accounts.services import consent_text_publish, membership_grant
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.models import (
    Annotation,
    AnnotationState,
    Batch,
    BatchState,
    Campaign,
    CampaignState,
    Guideline,
    NotificationKind,
    Participation,
    Purpose,
    Split,
)
from annotation.notifications.services import members, notify
from annotation.people.services.training import training_create
from annotation.tasktypes.base import Written
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction
from jobs.events import event_add
from web.errors import KeyedError

PILOT_SPLIT = "pilot"


@dataclass(frozen=True, slots=True)
class NewSplit:
    """A split to be made: its name, annotations per item, and share of the items."""

    name: str
    n: int
    weight: int = 1


@dataclass(frozen=True, slots=True)
class NewConsent:
    """The consent text of a new campaign."""

    purpose: str
    recorded: str
    contact: str
    approval_id: str = ""
    tells_behaviour: bool = False  # adds that ways of working are compared


SPLIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,29}")  # it stands in the names of files
RESERVED_SLUGS = frozenset({"new", "by-id"})  # campaigns/new/ is the page that makes campaigns


def are_named_alike(splits: Sequence[NewSplit]) -> bool:
    """Return whether two split names would give the same file name where case is ignored."""
    return len({split.name.casefold() for split in splits}) < len(splits)


def _check_names(slug: str, splits: Sequence[NewSplit]) -> None:
    if not splits:
        raise CampaignError("campaign_no_split")
    for split in splits:
        if not SPLIT_NAME.fullmatch(split.name):
            raise CampaignError("split_name", split=repr(split.name))
    if are_named_alike(splits):
        raise CampaignError("split_names_alike")
    if not slug_re.fullmatch(slug):
        raise CampaignError("slug", slug=repr(slug))
    if slug in RESERVED_SLUGS:
        raise CampaignError("slug_taken", slug=slug)


class CampaignError(KeyedError):
    """A campaign cannot be made or changed as asked."""


class AnsweredByPeople(KeyedError):
    """People have answered in a campaign: their work and a synthetic crowd's could not be told apart."""


def campaign_check_unanswered(campaign: Campaign) -> None:
    """Raise `AnsweredByPeople` if a synthetic crowd would work in a campaign that holds people's answers."""
    if not campaign.is_synthetic and campaign.annotations.exists():
        raise AnsweredByPeople("answered_by_people", campaign=campaign.slug)


@durable
def campaign_mark_synthetic(*, campaign: Campaign, mixed: bool, actor_id: UUID | None, now: datetime) -> None:
    """Mark a campaign, for good, as answered by a synthetic crowd; every page and release says so from then on.

    Raises
    ------
    AnsweredByPeople
        The campaign holds people's answers, and ``mixed`` doesn't allow that.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if locked.is_synthetic:
        return
    if not mixed:
        campaign_check_unanswered(locked)
    Campaign.objects.filter(pk=locked.pk).update(is_synthetic=True)
    record(action="campaign_mark_synthetic", subject=campaign, now=now, actor_id=actor_id, scope_id=campaign.pk)
    campaign.is_synthetic = True


@durable
def campaign_create(
    *,
    slug: str,
    title: str,
    task_type: str,
    splits: Sequence[NewSplit],
    consent: NewConsent,
    created_by: User | None,
    now: datetime,
    guidelines: str = "",
    **options: Any,
) -> Campaign:
    """Create a campaign with its splits, guidelines, consent text and a first batch.

    Raises
    ------
    ValueError
        The task type is unknown, there is no split, a split's name can't be part of a file name, or the short name
        can't be part of an address or is used by a page.
    """
    if task_type not in TASK_TYPES:
        raise CampaignError("task_type_unknown", task_type=repr(task_type), known=", ".join(TASK_TYPES))
    _check_names(slug, splits)
    options_checked(task_type=task_type, chosen=options.get("options", {}))
    actor_id = created_by.surrogate_id if created_by else None
    campaign = Campaign.objects.create(
        scope=Scope.objects.create(), slug=slug, title=title, task_type=task_type, created_at=now, **options
    )
    for position, split in enumerate(splits):
        Split.objects.create(campaign=campaign, name=split.name, n=split.n, weight=split.weight, position=position)
    Batch.objects.create(campaign=campaign, ordinal=1, created_at=now)
    body = guidelines or TASK_TYPES[task_type].default_guidelines
    Guideline.objects.create(campaign=campaign, version=1, body=body, created_at=now)
    consent_text_publish(scope_id=campaign.pk, actor_id=actor_id, now=now, **asdict(consent))
    if campaign.has_training:
        training_create(campaign=campaign)
    record(action="campaign_create", subject=campaign, now=now, actor_id=actor_id, scope_id=campaign.pk)
    if created_by:
        for role in (Role.MANAGER, Role.RESEARCHER):
            membership_grant(user=created_by, scope_id=campaign.pk, role=role, actor_id=actor_id, now=now)
    return campaign


CHANGEABLE = ("title", "content_warning", "deadline_seconds", "quota", "time_zone")


@durable
def campaign_change(
    *, campaign: Campaign, changes: Mapping[str, Any], actor_id: UUID | None, now: datetime
) -> list[str]:
    """Change settings that aren't locked while a campaign runs; return the names of the changed settings.

    A new time per item applies to later assignments, a new quota to each person's next item.
    """
    unknown = set(changes) - set(CHANGEABLE)
    if unknown:
        raise CampaignError("setting_locked", names=", ".join(sorted(unknown)))
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    before = {name: getattr(held, name) for name, value in changes.items() if getattr(held, name) != value}
    if before:
        Campaign.objects.filter(pk=campaign.pk).update(**{name: changes[name] for name in before})
        record(
            action="campaign_change",
            subject=campaign,
            now=now,
            actor_id=actor_id,
            scope_id=campaign.pk,
            before=before,
            after={name: changes[name] for name in before},
        )
    return list(before)


def options_checked(*, task_type: str, chosen: Mapping[str, Any]) -> dict[str, bool]:
    """Return the options that a campaign chose, after checking that its task type has them.

    Raises
    ------
    ValueError
        The task type has no option of that name.
    """
    found = TASK_TYPES[task_type]
    known = [option.key for option in found.options] if isinstance(found, Written) else []
    if unknown := sorted(set(chosen) - set(known)):
        raise CampaignError(
            "option_unknown", task_type=task_type, option=repr(unknown[0]), known=", ".join(known) or "–"
        )
    return {key: bool(value) for key, value in chosen.items()}


@durable
def options_change(*, campaign: Campaign, chosen: Mapping[str, bool], actor_id: UUID | None, now: datetime) -> bool:
    """Change a campaign's options of its task type from now on; return whether anything changed.

    Follow-up items that exist already stay. Counted annotations without follow-up items are examined again.
    """
    held = Campaign.objects.get(pk=campaign.pk)
    options = {**held.options, **options_checked(task_type=held.task_type, chosen=chosen)}
    if options == held.options:
        return False
    counted = Annotation.objects.filter(campaign=campaign, state=AnnotationState.COUNTED)
    counted.filter(follow_ups=None).update(is_examined=False)  # of which nothing is asked yet
    Campaign.objects.filter(pk=campaign.pk).update(options=options)  # whose row is locked last everywhere
    record(
        action="campaign_change",
        subject=campaign,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        before={"options": held.options},
        after={"options": options},
    )
    return True


@durable
def consent_change(*, campaign: Campaign, consent: NewConsent, actor_id: UUID | None, now: datetime) -> None:
    """Publish a new version of the consent text: annotators must agree to it before their next item."""
    consent_text_publish(scope_id=campaign.pk, actor_id=actor_id, now=now, **asdict(consent))


@durable
def guideline_publish(
    *, campaign: Campaign, body: str, actor_id: UUID | None, now: datetime, note: str = ""
) -> Guideline:
    """Publish a new version of the guidelines: assignments made from now on pin it, and annotators read what changed."""
    last = guideline_current(campaign)
    guideline = Guideline.objects.create(
        campaign=campaign, version=last.version + 1, body=body, note=note[:500], created_at=now
    )
    record(
        action="guideline_publish",
        subject=guideline,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        version=guideline.version,
    )
    return guideline


@durable
def guideline_read(*, campaign: Campaign, surrogate_id: UUID, version: int) -> None:
    """Record that an annotator read a version of the guidelines; a version that doesn't exist changes nothing."""
    read = Guideline.objects.filter(campaign=campaign, version=version).first()
    if read is not None:
        Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).update(guideline=read)


_MOVES = {
    CampaignState.OPEN: (CampaignState.DRAFT, CampaignState.PAUSED, CampaignState.CLOSED),
    CampaignState.PAUSED: (CampaignState.OPEN,),
    CampaignState.CLOSED: (CampaignState.OPEN, CampaignState.PAUSED),
}


@durable
def campaign_move(*, campaign: Campaign, to: CampaignState, actor_id: UUID | None, now: datetime) -> bool:
    """Open, pause or close a campaign; return whether that changed anything."""
    moved = Campaign.objects.filter(pk=campaign.pk, state__in=_MOVES[to]).update(state=to)
    if moved:
        record(action=f"campaign_{to}", subject=campaign, now=now, actor_id=actor_id, scope_id=campaign.pk)
        kind = "campaign.opened" if to == CampaignState.OPEN else f"campaign.{to}"
        event_add(kind=kind, scope_id=campaign.pk, now=now, slug=campaign.slug)
        users = members(campaign, Role.ANNOTATOR, Role.EXPERT, Role.MANAGER)
        first = campaign.state == CampaignState.DRAFT
        notify(
            campaign=campaign,
            kind=NotificationKind.CAMPAIGN,
            users=users,
            now=now,
            actor_id=actor_id,
            state=to,
            first=first,
        )
    campaign.state = to if moved else campaign.state
    return bool(moved)


def batch_for_import(*, campaign: Campaign, pilot: bool, now: datetime) -> Batch:
    """Return the batch that new items go to: the open draft of its kind, or a new one."""
    require_transaction()
    purpose = Purpose.PILOT if pilot else Purpose.WORK
    drafts = Batch.objects.filter(campaign=campaign, purpose=purpose, state=BatchState.DRAFT)
    batch = drafts.order_by("ordinal").first()
    if batch is None:
        last = Batch.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"] or 0
        batch = Batch.objects.create(campaign=campaign, ordinal=last + 1, purpose=purpose, created_at=now)
    return batch


@durable
def batch_schedule(*, batch: Batch, opens_at: datetime | None, actor_id: UUID, now: datetime) -> bool:
    """Schedule the launch of a draft batch (None: no automatic launch); return whether it was still a draft."""
    changed = Batch.objects.filter(pk=batch.pk, state=BatchState.DRAFT).update(opens_at=opens_at)
    if changed:
        record(
            action="batch_schedule",
            subject=batch,
            now=now,
            actor_id=actor_id,
            scope_id=batch.campaign_id,
            opens_at=opens_at.isoformat() if opens_at else None,
        )
    return bool(changed)


def pilot_split(*, campaign: Campaign, people: int) -> Split:
    """Return the split of pilot items, which isn't part of the dataset; each colleague annotates each item once."""
    require_transaction()
    split, _ = Split.objects.get_or_create(
        campaign=campaign, name=PILOT_SPLIT, defaults={"n": people, "weight": 0, "position": 1000}
    )
    return split
