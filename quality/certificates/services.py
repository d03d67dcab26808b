"""Certificates in a campaign: labels are frozen, a seed is drawn, and experts judge in its order until it is reached.

Each step adds lines to the record in the transaction of what they report, so a process that is killed leaves a record that
goes on. The experts' cases are those of audits: experts don't see labels, and their opinions set none.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Campaign
from database.bulk import rows_insert
from database.transactions import durable
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import Work
from measures.certificates import Claim
from quality.certificates.entries import RecordError, drawn, frozen, hash_of, text_at
from quality.certificates.models import UNFINISHED, Certificate, CertificateLabel, CertificateState
from quality.certificates.progress import advance, finish, judgments_keep, lines_append, locked
from quality.certificates.selectors import (
    CHUNK,
    MOST_PLACES,
    audit_of,
    certificate_unfinished,
    certificates_to_advance,
    claim_of,
    first_places,
    labels_sha256,
)
from quality.labels.selectors.audits import labels_in_force
from quality.labels.services.audits import cases_recall
from quality.models import PENDING, Case
from quality.payloads import CertificateFreezePayload, CertificatePayload
from web.errors import KeyedError

LEAST_LABELS = 20
PLACES_STEP = 500  # labels of one transaction
KIND = "quality.certificate_advance"


class CertificateError(KeyedError):
    """A certificate doesn't allow the requested step."""


def certificate_freeze(*, work: Work, campaign: Campaign, asked: CertificateFreezePayload) -> dict[str, Any]:
    """Freeze the labels in force and write the first line of the record; return the certificate's number.

    Raises
    ------
    CertificateError
        Another certificate isn't finished, or there are too few labels.
    """
    certificate = Certificate.objects.filter(pk=work.job.result.get("certificate")).first()
    if certificate is None:
        certificate = _labels_freeze(work, campaign, asked)
    sha256 = labels_sha256(certificate)
    with work.step():
        held = locked(certificate)
        if held.state == CertificateState.FREEZING:
            entry = frozen(
                claim=claim_of(held),
                sha256=sha256,
                source=held.source,
                commitments=held.commitments,
                at=text_at(held.frozen_at),
            )
            held.published, held.state = hash_of(lines_append(held, [entry])[0]), CertificateState.FROZEN
            held.save(update_fields=["published", "state"])
    return {"certificate": held.pk, "number": held.number}


def _labels_freeze(work: Work, campaign: Campaign, asked: CertificateFreezePayload) -> Certificate:
    with work.step():
        campaign_lock(campaign)
        if certificate_unfinished(campaign):
            raise CertificateError("certificate_unfinished")
        last = Certificate.objects.filter(campaign=campaign).order_by("-number").first()
        certificate = Certificate.objects.create(
            campaign=campaign,
            number=last.number + 1 if last else 1,
            error=asked["error"],
            risk=asked["risk"],
            guess=Claim(1, asked["error"], asked["risk"], asked["guess"]).first_guess,
            twice=asked["twice"],
            source=asked["source"],
            commitments=asked["commitments"],
            frozen_at=timezone.now(),
            frozen_by_id=work.job.requested_by_id,
        )
        labels = labels_in_force(campaign).values_list("pk").iterator(chunk_size=CHUNK)
        rows_insert(CertificateLabel, ["verdict_id"], labels, same={"certificate_id": certificate.pk})
        certificate.size = certificate.labels.count()
        if certificate.size < LEAST_LABELS:
            raise CertificateError("certificate_too_few", labels=certificate.size, least=LEAST_LABELS)
        certificate.save(update_fields=["size"])
        record(
            action="certificate_freeze",
            subject=certificate,
            now=certificate.frozen_at,
            actor_id=work.job.requested_by_id,
            scope_id=campaign.pk,
            labels=certificate.size,
            error=certificate.error,
            risk=certificate.risk,
        )
        work.checkpoint(certificate=certificate.pk)
    return certificate


@durable
def certificate_draw(
    *, certificate: Certificate, seed: str, reveals: Mapping[str, str], actor_id: UUID, now: datetime
) -> None:
    """Set the seed, and request the first cases.

    Raises
    ------
    CertificateError
        The labels aren't frozen, the seed is set already, or it isn't what was announced.
    """
    held = locked(certificate)
    if held.state != CertificateState.FROZEN:
        raise CertificateError("certificate_not_frozen")
    drawn_at = max(now, held.frozen_at)  # clocks of machines differ
    try:
        entry = drawn(commitments=held.commitments, seed=seed, reveals=reveals, at=text_at(drawn_at))
    except RecordError as error:
        raise CertificateError.of(error) from error
    lines_append(held, [entry])
    held.seed, held.drawn_at, held.state = entry["seed"], drawn_at, CertificateState.JUDGING
    held.save(update_fields=["seed", "drawn_at", "state"])
    record(
        action="certificate_draw",
        subject=held,
        now=now,
        actor_id=actor_id,
        scope_id=held.campaign_id,
        seed=held.seed[:200],
    )
    _advance_request(held, now, actor_id)


@durable
def certificate_end(*, certificate: Certificate, actor_id: UUID, now: datetime) -> None:
    """End an audit, usually without a certificate; the record of a drawn one says so and is signed.

    Judgments that aren't in the record yet are added first.

    Raises
    ------
    CertificateError
        It has ended already.
    """
    held = locked(certificate)
    if held.state not in UNFINISHED:
        raise CertificateError("certificate_over")
    audit = audit_of(held)
    while held.drawn_at and not audit.is_certified and judgments_keep(held, audit, now):
        pass  # what experts have judged by now counts
    finish(held, audit, now=now, actor_id=actor_id)
    _advance_request(held, now, actor_id)


def certificate_advance(*, work: Work, certificate: Certificate) -> dict[str, Any]:
    """Add the experts' next judgments to the record, and open further cases; recall all cases once it has ended."""
    _places_set(work, certificate)
    is_moving = True
    while is_moving:
        with work.step():
            held = locked(certificate)
            is_moving = held.state == CertificateState.JUDGING and advance(held, timezone.now())
    if held.state not in UNFINISHED:
        cases = Case.objects.filter(certificate_label__certificate=held, state__in=PENDING)
        cases_recall(work=work, campaign=held.campaign, cases=cases)
    return {"number": held.number}


def certificates_due(now: datetime) -> None:
    """Queue a job for each certificate whose next item was judged."""
    for certificate in certificates_to_advance(now).order_by("pk"):
        if not job_failed_lately(key=_key(certificate), now=now):
            _advance_request(certificate, now, None)


def _advance_request(certificate: Certificate, now: datetime, actor_id: UUID | None) -> None:
    job_enqueue(
        kind=KIND,
        payload=CertificatePayload(certificate=certificate.pk),
        now=now,
        scope_id=certificate.campaign_id,
        requested_by_id=actor_id,
        key=_key(certificate),
    )


def _key(certificate: Certificate) -> str:
    """Return the key of a certificate's job. A job that runs when an audit ends may not notice, so it has another key."""
    return f"certificate:{certificate.pk}:{certificate.state in UNFINISHED}"


def _places_set(work: Work, certificate: Certificate) -> None:
    """Give labels their places in the order that the seed gives; without effect if they have them."""
    there = certificate.labels.exclude(place=None).count()
    if certificate.state != CertificateState.JUDGING or there == min(certificate.size, MOST_PLACES):
        return
    order = first_places(certificate)
    for start in range(0, len(order), PLACES_STEP):
        rows = [
            CertificateLabel(pk=pk, place=place)
            for place, pk in enumerate(order[start : start + PLACES_STEP], start=start + 1)
        ]
        with work.step(done=start, total=len(order)):
            CertificateLabel.objects.bulk_update(rows, ["place"])
