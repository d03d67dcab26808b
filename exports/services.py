"""Freeze and write releases."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Campaign, Split
from database.transactions import is_transient
from exports.build import build_release
from exports.card import card_facts
from exports.citation import is_one_line
from exports.errors import ReleaseError
from exports.families import FAMILIES, families_of
from exports.freeze import votes_freeze
from exports.models import Release, ReleaseState
from exports.selectors.certificates import certificate_of
from exports.selectors.changes import since_before
from exports.selectors.errata import errata_before
from exports.selectors.labels import labels_beyond
from exports.selectors.work import fair_work
from exports.targets import Progress, Target
from jobs.events import event_add
from jobs.services import job_enqueue
from jobs.work import LeaseLost, WorkerStopping
from quality.labels.selectors.audits import audits_counted, label_error_of
from quality.models import Audit
from storage.files import StoreAway

logger = logging.getLogger(__name__)


class WritePayload(TypedDict):
    """The payload of the job that writes a release."""

    release: int


class BuildError(ValueError):
    """The files of a frozen release can't be written."""


def release_freeze(
    *,
    campaign: Campaign,
    family: str,
    ways: int | None,
    splits: Sequence[str],
    seed: int | None,
    shards: int,
    actor_id: UUID | None,
    now: datetime,
    licence: str = "",
    authors: Sequence[str] = (),
    labels_only: bool = False,
    generated: Sequence[str] = (),
    baselines: str = "",
) -> Release:
    """Decide in one short transaction which annotations a release contains.

    The content depends on the family (see `exports.families`). Items that aren't ready are listed as shortfall and
    never padded. Pilot items and retired items are left out.

    Parameters
    ----------
    labels_only
        Leave out the labeled texts, for example because they can't be redistributed.
    generated
        Program-generated questions, to be mixed into the sealed splits. The release doesn't reveal which ones they are.
    baselines
        A table of results in Markdown, for the card.

    Raises
    ------
    ReleaseError
        The family is unknown, has another task type, or has no variant without texts; no split has that many
        annotations per item; or the license or an author could be mistaken for another line of the card.
    """
    ways = _checked_ways(campaign, family, ways, shards, (licence, *authors))
    _check_variant(family, labels_only=labels_only, generated=generated)
    with transaction.atomic():
        campaign_lock(campaign)
        chosen = _chosen_splits(campaign, splits, ways)
        release = Release(
            campaign=campaign,
            family=family,
            ways=ways,
            seed=seed,
            shards=shards,
            created_at=now,
            frozen={"generated": list(generated)} if generated else {},
        )
        asked = {"licence": licence or None, "authors": list(authors), "labels_only": labels_only}
        asked |= {"baselines": baselines} if baselines else {}
        _contents_freeze(release, chosen, asked)
        record(
            action="release_freeze",
            subject=release,
            now=now,
            actor_id=actor_id,
            scope_id=campaign.pk,
            family=family,
            ways=ways,
            splits=release.splits,
            seed=seed,
        )
    return release


def _contents_freeze(release: Release, chosen: Sequence[Split], asked: dict[str, Any]) -> None:
    """Save the content of a release: its members, their votes, and the options requested for it."""
    _family_freeze(release, chosen)
    votes_freeze(release)
    release.frozen |= _facts(release, chosen) | asked
    release.save(update_fields=["frozen"])


def _checked_ways(campaign: Campaign, family: str, ways: int | None, shards: int, lines: Sequence[str]) -> int:
    """Check the requested options, and return the number of annotations per item.

    Raises
    ------
    ReleaseError
    """
    if family not in FAMILIES:
        raise ReleaseError("release_format_unknown", format=repr(family), known=", ".join(FAMILIES))
    if family not in families_of(campaign.task_type):
        raise ReleaseError("release_format_other", format=family, task_type=campaign.task_type)
    if not 1 <= shards <= 100:
        raise ReleaseError("release_shards")
    for text in lines:
        if not is_one_line(text):
            raise ReleaseError("release_lines")
    return FAMILIES[family].ways(campaign, ways)


def _family_freeze(release: Release, chosen: Sequence[Split]) -> None:
    """Save a release under the next number, with the content that its family freezes from the chosen splits."""
    last = Release.objects.filter(campaign=release.campaign).aggregate(last=Max("number"))["last"] or 0
    release.number, release.splits = last + 1, [split.name for split in chosen]
    release.save()
    release.frozen |= {"sealed": [split.name for split in chosen if split.sealed_at is not None]}
    FAMILIES[release.family].freeze(release, list(chosen))


def _check_variant(family: str, *, labels_only: bool, generated: Sequence[str]) -> None:
    if generated and not FAMILIES[family].takes_generated:
        raise ReleaseError("release_takes_no_generated", format=family)
    if labels_only and not FAMILIES[family].has_labels_alone:
        raise ReleaseError("release_labels_only", format=family)


def _facts(release: Release, chosen: Sequence[Split]) -> dict[str, Any]:
    """Return the facts that are frozen with a release, besides its content and the requested options."""
    return {
        "label_error": _label_error(release),
        "audits": audits_counted(release.campaign),
        "certificate": certificate_of(release),
        "card": card_facts(release.campaign),
        "has_tables": True,
        "has_license_file": True,
        "url": f"{settings.PLATFORM_URL}{reverse('release', args=[release.campaign.slug, release.number])}",
        "rare_below": settings.RELEASE_RARE_BELOW,
        "since": since_before(release),
        "errata": errata_before(release),
        "work": fair_work(release.campaign),
    }


def _label_error(release: Release) -> dict[str, Any] | None:
    """Return the last finished audit's result, and how many labels the release and the audit don't have in common."""
    found = label_error_of(release.campaign)
    if found is None:
        return None
    beyond = labels_beyond(release, Audit.objects.get(pk=found["audit"]).drawn_at)
    return found | beyond | {"missing": found["labels"] - (beyond["released"] - beyond["beyond"])}


def release_request(*, actor_id: UUID, now: datetime, **what: Any) -> Release:
    """Freeze a release (see `release_freeze`) and queue a job that writes it, in one transaction.

    If the same release is already being written, return that one.
    """
    with transaction.atomic():
        campaign_lock(what["campaign"])
        lines = (what.get("licence", ""), *what.get("authors", ()))
        what["ways"] = _checked_ways(what["campaign"], what["family"], what["ways"], what["shards"], lines)
        asked = {name: what[name] for name in ("campaign", "family", "ways", "seed", "shards")}
        asked |= {"frozen__licence": what.get("licence") or None, "frozen__authors": list(what.get("authors", []))}
        asked["frozen__labels_only"] = what.get("labels_only", False)
        writing = Release.objects.filter(**asked, state=ReleaseState.WRITING, job__isnull=False).first()
        if writing is not None and what["splits"] in ([], writing.splits):
            return writing
        release = release_freeze(actor_id=actor_id, now=now, **what)
        _write_enqueue(release, actor_id, now)
    return release


def release_write_here(*, release: Release, actor_id: UUID | None, now: datetime) -> Release:
    """Queue a job that writes into our storage the files of a release that a command writes or wrote elsewhere.

    Without effect if the release has a job already. The command may still be running: both write the same bytes, each
    to its own place.
    """
    with transaction.atomic():
        campaign_lock(release.campaign)
        held = Release.objects.select_related("campaign").get(pk=release.pk)
        if held.job is None:
            _write_enqueue(held, actor_id, now)
    return held


def _write_enqueue(release: Release, actor_id: UUID | None, now: datetime) -> None:
    release.job = job_enqueue(
        kind="exports.write",
        payload=WritePayload(release=release.pk),
        now=now,
        scope_id=release.campaign_id,
        requested_by_id=actor_id,
        key=f"release:{release.pk}",
    )
    release.save(update_fields=["job"])


def release_sent(*, release: Release, name: str, actor_id: UUID, now: datetime) -> None:
    """Record that a person downloaded one file or all files of a release."""
    with transaction.atomic():
        record(
            action="release_download",
            subject=release,
            now=now,
            actor_id=actor_id,
            scope_id=release.campaign_id,
            name=name,
        )


def release_make(*, target: Target, progress: Progress, **what: Any) -> dict[str, Any]:
    """Freeze a release (see `release_freeze`) and write it; return its manifest.

    Raises
    ------
    ReleaseError
        It can't be frozen as requested.
    BuildError
        It was frozen but can't be written. Its row holds the reason.
    """
    return release_write(release=release_freeze(**what), target=target, progress=progress)


def release_write(
    *,
    release: Release,
    target: Target,
    progress: Progress,
    finished: dict[str, Any] | None = None,
    transaction_open: Callable[[], AbstractContextManager[object]] = transaction.atomic,
) -> dict[str, Any]:
    """Write every file of a frozen release and mark it as ready; return its manifest.

    ``progress`` and ``finished`` are those of `build_release`. ``transaction_open`` opens the transaction in which the
    row becomes ready. A job passes its step, which fails if another worker has taken over the job.

    Raises
    ------
    BuildError
        It can't be written. Its row holds the reason, and finished files are kept for the next attempt.
    StoreAway
        The storage is temporarily unavailable.
    """
    with transaction.atomic():
        again = {"state": ReleaseState.WRITING, "problem": ""}
        Release.objects.filter(pk=release.pk, state=ReleaseState.FAILED).update(**again)
    try:
        manifest = _built(release, target, progress, finished)
    except BuildError as error:
        with transaction_open():  # a worker that lost its job must not say that another one failed
            # One that a command finished elsewhere stays ready: only its copy here failed, which its job says.
            unfinished = Release.objects.filter(pk=release.pk).exclude(state=ReleaseState.READY)
            unfinished.update(state=ReleaseState.FAILED, problem=str(error)[:500])
        raise
    with transaction_open():
        Release.objects.filter(pk=release.pk).update(state=ReleaseState.READY, problem="", manifest=manifest)
        event_add(
            kind="release.ready",
            scope_id=release.campaign_id,
            now=timezone.now(),
            key=f"release.ready:{release.number}",
            release=release.number,
            family=release.family,
        )
    return manifest


def release_rewrite(*, release: Release, target: Target, progress: Progress) -> dict[str, Any]:
    """Write an existing release again, with identical bytes.

    The row of one that a command didn't finish becomes ready; any other row doesn't change.

    Raises
    ------
    BuildError
    """
    if release.state == ReleaseState.READY or release.job is not None:
        return _built(release, target, progress, None)
    return release_write(release=release, target=target, progress=progress)


def _built(release: Release, target: Target, progress: Progress, finished: dict[str, Any] | None) -> dict[str, Any]:
    try:
        return build_release(release, target, progress, finished)
    except (StoreAway, LeaseLost, WorkerStopping):  # it is tried again, from where it was
        raise
    except KeyboardInterrupt as error:
        raise BuildError(str(error) or "It was interrupted.") from error
    except (ValueError, OSError) as error:  # OSError: a full disk, a bucket that refuses
        raise BuildError(str(error)) from error
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("release %s cannot be written", release.pk)
        raise BuildError(f"Something unexpected went wrong ({type(error).__name__}).") from error


def _chosen_splits(campaign: Campaign, names: Sequence[str], ways: int) -> list[Split]:
    splits = list(Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position"))
    if names:
        unknown = set(names) - {split.name for split in splits}
        if unknown:
            raise ReleaseError(
                "release_split_unknown", unknown=", ".join(sorted(unknown)), known=", ".join(map(str, splits))
            )
        return [split for split in splits if split.name in names]
    enough = [split for split in splits if split.n >= ways or split.items.filter(n__gte=ways).exists()]
    if not enough:
        raise ReleaseError("release_ways_unmet", ways=ways)
    return enough
