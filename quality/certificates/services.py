"""Certificates in a campaign: labels are frozen, a seed is drawn, and experts judge in its order until it is reached.

Each step adds lines to the record in the transaction of what they report, so a process that is killed leaves a record that
goes on. The experts' cases are those of audits: experts don't see labels, and their opinions set none.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Campaign, ItemState
from database.bulk import rows_insert
from database.transactions import durable, require_transaction
from jobs.events import event_add
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import Work
from measures.certificates import Claim, RiskLimitingAudit, interval
from quality.certificates.entries import Entry, RecordError, chained, drawn, ending, frozen, hash_of
from quality.certificates.models import UNFINISHED, Certificate, CertificateLabel, CertificateLine, CertificateState
from quality.certificates.selectors import (
    CHUNK,
    MOST_PLACES,
    audit_of,
    certificate_unfinished,
    certificates_to_advance,
    claim_of,
    first_places,
    judgments_of,
    labels_between,
    labels_in_force,
    labels_sha256,
    opinions_alone,
    opinions_deciding,
    record_lines,
)
from quality.certificates.signatures import Signer
from quality.experts.selectors import DISCUSSION_DAYS
from quality.experts.services.cases import case_end, case_open, parts_of
from quality.labels.selectors.audits import experts_able
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import PENDING, Case, CaseReason, CaseState, Opinion
from quality.payloads import CertificateFreezePayload, CertificatePayload
from quality.policies.services import policy_ensure
from storage.tables.values import text_of
from web.errors import KeyedError

LEAST_LABELS = 20
STEP = 50  # items of one transaction
LEAST_AHEAD, MOST_AHEAD = 10, 200  # cases that are open at the same time
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
        held = _locked(certificate)
        if held.state == CertificateState.FREEZING:
            entry = frozen(
                claim=claim_of(held),
                sha256=sha256,
                source=held.source,
                commitments=held.commitments,
                at=_text(held.frozen_at),
            )
            held.published, held.state = hash_of(_append(held, [entry])[0]), CertificateState.FROZEN
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
    held = _locked(certificate)
    if held.state != CertificateState.FROZEN:
        raise CertificateError("certificate_not_frozen")
    now = max(now, held.frozen_at)  # clocks of machines differ
    try:
        entry = drawn(commitments=held.commitments, seed=seed, reveals=reveals, at=_text(now))
    except RecordError as error:
        raise CertificateError.of(error) from error
    _append(held, [entry])
    held.seed, held.drawn_at, held.state = entry["seed"], now, CertificateState.JUDGING
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
    held = _locked(certificate)
    if held.state not in UNFINISHED:
        raise CertificateError("certificate_over")
    audit = audit_of(held)
    while held.drawn_at and not audit.is_certified and _judged_keep(held, audit, now):
        pass  # what experts have judged by now counts
    _finish(held, audit, now=now, actor_id=actor_id)
    _advance_request(held, now, actor_id)


def certificate_advance(*, work: Work, certificate: Certificate) -> dict[str, Any]:
    """Add the experts' next judgments to the record, and open further cases; recall all cases once it has ended."""
    _places_set(work, certificate)
    is_moving = True
    while is_moving:
        with work.step():
            held = _locked(certificate)
            is_moving = held.state == CertificateState.JUDGING and _advance(held, timezone.now())
    if held.state not in UNFINISHED:
        _cases_recall(work, held)
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
    for start in range(0, len(order), STEP * 10):
        rows = [
            CertificateLabel(pk=pk, place=place)
            for place, pk in enumerate(order[start : start + STEP * 10], start=start + 1)
        ]
        with work.step(done=start, total=len(order)):
            CertificateLabel.objects.bulk_update(rows, ["place"])


def _advance(held: Certificate, now: datetime) -> bool:
    """Record some judgments and open some cases; return whether there was anything to do.

    An audit that no further judgments can bring to a certificate ends.
    """
    audit = audit_of(held)
    has_judged = _judged_keep(held, audit, now)
    needed = _needed(held, audit)
    if audit.is_certified or needed is None:
        _finish(held, audit, now=now, actor_id=None)
        return False
    return _cases_open(held, audit, now, needed=needed) or has_judged


def _needed(held: Certificate, audit: RiskLimitingAudit) -> int | None:
    """Return the number of further judgments that a certificate needs at least; None if it can't be reached."""
    return audit.fewest_left(min(held.size, MOST_PLACES) - audit.judged)


def _judged_keep(held: Certificate, audit: RiskLimitingAudit, now: datetime) -> bool:
    """Add the judgments of the next labels in the order to the audit and its record; return whether there were any.

    They go up to the first that is missing, because people who could leave items out could choose the result. For the same
    reason, a label counts as wrong if its item was retired, or if its experts don't agree in time.
    """
    places = (audit.judged, audit.judged + STEP)
    items_lock(label.verdict.item_id for label in labels_between(held, *places))  # no opinion comes in between
    labels = labels_between(held, *places)
    deciding, alone, names = opinions_deciding(labels), opinions_alone(labels), _names(held, labels)
    entries = list[Entry]()
    for label in labels:
        said = None if audit.is_certified else _said(held, label, deciding, alone, names, now)
        if said is None:
            break
        label.is_wrong = said["label"] != text_of(label.verdict.label)
        audit.add(is_wrong=label.is_wrong)
        entries.append({"kind": "judged", "number": audit.judged, "item": label.verdict.item.external_id, **said})
    if entries:
        CertificateLabel.objects.bulk_update(labels[: len(entries)], ["is_wrong"])
        _append(held, entries)
        _numbers_keep(held, audit)
        for label in labels[: len(entries)]:
            if label.case is not None and label.case.state in PENDING:
                case_end(case=label.case, to=CaseState.RECALLED, now=now)
    return bool(entries)


def _said(
    held: Certificate,
    label: CertificateLabel,
    deciding: Mapping[int, Opinion],
    alone: Mapping[int, Sequence[Opinion]],
    names: Mapping[UUID, str],
    now: datetime,
) -> dict[str, Any] | None:
    """Return what the record says of a label; None if it has to wait.

    Of several experts, it says what each said alone. Times are never before the draw, though clocks of machines differ.
    """
    case, earliest = label.case, held.drawn_at or held.frozen_at
    said = alone.get(case.pk, ()) if case is not None else ()
    of_experts: dict[str, Any] = {"expert": " and ".join(names[one.surrogate_id] for one in said)}
    of_experts |= {"alone": [text_of(one.label) for one in said]} if len(said) > 1 else {}
    if case is not None and case.state == CaseState.DECIDED:
        decided = deciding[case.pk]
        return {"label": text_of(decided.label), "at": _text(max(decided.at, earliest)), **of_experts}
    without = {"label": "", "at": _text(max(now, earliest))}
    if label.verdict.item.state != ItemState.ACTIVE:
        return without | {"expert": "", "retired": True}
    too_late = now - timedelta(days=DISCUSSION_DAYS)
    if case is not None and case.state == CaseState.CONSENSUS and all(one.at < too_late for one in said):
        return without | of_experts | {"undecided": True}
    return None


def _names(held: Certificate, labels: Sequence[CertificateLabel]) -> dict[UUID, str]:
    """Return the experts' names in the record: by number, in the order in which they appear in it."""
    earlier = held.labels.filter(place__lte=held.judged).order_by("place")
    found = dict[UUID, str]()
    said = opinions_alone([*earlier, *labels])
    for label in [*earlier, *labels]:
        for opinion in said.get(label.case_id or 0, ()):
            found.setdefault(opinion.surrogate_id, f"expert {len(found) + 1}")
    return found


def _cases_open(held: Certificate, audit: RiskLimitingAudit, now: datetime, *, needed: int) -> bool:
    """Send the next items to experts, as many as are needed at least; return whether there were any to send.

    So all but the last few judgments are needed. Items that experts judge for another reason wait until they have.
    """
    ahead = max(LEAST_AHEAD, min(needed, MOST_AHEAD))
    labels = [
        label
        for label in labels_between(held, audit.judged, audit.judged + ahead)
        if label.case is None or label.case.state == CaseState.RECALLED
    ][:STEP]
    able = experts_able(held.campaign, [label.verdict.item_id for label in labels])
    items = {item.pk: item for item in items_lock([label.verdict.item_id for label in labels])}
    opened = 0
    for label in labels:
        item = items[label.verdict.item_id]
        experts = 2 if _is_twice(held, label.place or 0) and len(able[item.pk]) > 1 else 1
        if item.state == ItemState.ACTIVE and case_open(
            item=item, because=CaseReason.AUDIT, experts=experts, parts=parts_of(item), actor_id=None, now=now
        ):
            label.case = Case.objects.get(item=item, state__in=PENDING)
            label.save(update_fields=["case"])
            opened += 1
    return opened > 0


def _is_twice(held: Certificate, place: int) -> bool:
    """Return whether two experts judge the item at a place; the share of such items is ``twice``."""
    return int(place * held.twice) > int((place - 1) * held.twice)


def _finish(held: Certificate, audit: RiskLimitingAudit, *, now: datetime, actor_id: UUID | None) -> None:
    """Write the result of an audit and sign it."""
    kind = "certified" if audit.is_certified else "ended"
    if held.drawn_at is not None:
        lines = record_lines(held)
        at = max(_text(now), *(json.loads(line)["at"] for line in lines))  # clocks of machines differ
        _append(held, ending(lines, kind, audit, at=at, signer=Signer()))
        _numbers_keep(held, audit)
    held.state, held.ended_at = CertificateState(kind), now
    held.save(update_fields=["state", "ended_at"])
    record(
        action=f"certificate_{'reach' if audit.is_certified else 'end'}",
        subject=held,
        now=now,
        actor_id=actor_id,
        scope_id=held.campaign_id,
    )
    event_add(
        kind="certificate.finished",
        scope_id=held.campaign_id,
        now=now,
        certificate=held.number,
        is_certified=audit.is_certified,
    )


def _numbers_keep(held: Certificate, audit: RiskLimitingAudit) -> None:
    held.judged, held.wrong = audit.judged, audit.wrong
    low, high = interval(judgments_of(held), held.size)
    twice = [
        [one.said for one in said]
        for said in opinions_alone(held.labels.filter(place__lte=held.judged)).values()
        if len(said) > 1
    ]
    held.numbers = {
        "low": low,
        "high": high,
        "twice": len(twice),
        "differ": sum(any(one != said[0] for one in said) for said in twice),
        "fewest_left": _needed(held, audit),
    }
    held.save(update_fields=["judged", "wrong", "numbers"])


def _cases_recall(work: Work, certificate: Certificate) -> None:
    """Recall from the experts what an ended audit doesn't need, and update the verdicts of those items."""
    version, policy = policy_ensure(campaign=certificate.campaign, now=timezone.now())
    cases = Case.objects.filter(certificate_label__certificate=certificate, state__in=PENDING).order_by("item")
    is_moving = True
    while is_moving:
        with work.step():
            items = items_lock(cases.values_list("item", flat=True)[:STEP])
            for case in cases.filter(item__in=items):
                case_end(case=case, to=CaseState.RECALLED, now=timezone.now())
            items_judge(items=items, version=version, policy=policy, now=timezone.now())
        is_moving = bool(items)


def _append(held: Certificate, entries: Sequence[Entry]) -> list[bytes]:
    """Add entries to a record; return all its lines."""
    require_transaction()
    before = record_lines(held)
    lines = chained(before, entries)
    CertificateLine.objects.bulk_create(
        CertificateLine(certificate=held, number=number, line=line.decode())
        for number, line in enumerate(lines[len(before) :], start=len(before) + 1)
    )
    return lines


def _locked(certificate: Certificate) -> Certificate:
    require_transaction()
    return (
        Certificate.objects.select_for_update(of=("self",), no_key=True)
        .select_related("campaign")
        .get(pk=certificate.pk)
    )


def _text(at: datetime) -> str:
    """Return a time as it stands in records."""
    return at.astimezone(UTC).isoformat(timespec="seconds")
