"""The progress of an audit: judgments enter the record in their order, experts get further items, the result is signed.

Everything here is part of a transaction that holds the certificate's row.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from accounts.audit import record
from annotation.models import ItemState
from database.transactions import require_transaction
from jobs.events import event_add
from measures.certificates import RiskLimitingAudit, interval
from quality.certificates.entries import Entry, chained, ending, text_at
from quality.certificates.models import Certificate, CertificateLabel, CertificateLine, CertificateState
from quality.certificates.selectors import (
    LEAST_TWICE,
    MOST_PLACES,
    audit_of,
    judgments_of,
    labels_between,
    record_lines,
)
from quality.certificates.signatures import Signer
from quality.experts.selectors import DISCUSSION_DAYS, opinions_of
from quality.experts.services.cases import case_end, case_open, parts_of
from quality.labels.selectors.audits import experts_able, kappa_of
from quality.labels.services.verdicts import items_lock
from quality.models import PENDING, Case, CaseReason, CaseState, Opinion
from storage.tables.values import text_of

STEP = 50  # items of one transaction
LEAST_AHEAD, MOST_AHEAD = 10, 200  # cases that are open at the same time
LOW_KAPPA = 0.6  # below it, experts agree moderately at best (Landis and Koch 1977)


def advance(held: Certificate, now: datetime) -> bool:
    """Record some judgments and open some cases; return whether there was anything to do.

    An audit that no further judgments can bring to a certificate ends.
    """
    audit = audit_of(held)
    has_judged = judgments_keep(held, audit, now)
    needed = _needed(held, audit)
    if audit.is_certified or needed is None:
        finish(held, audit, now=now, actor_id=None)
        return False
    return _cases_open(held, audit, now, needed=needed) or has_judged


def _needed(held: Certificate, audit: RiskLimitingAudit) -> int | None:
    """Return the number of further judgments that a certificate needs at least; None if it can't be reached."""
    return audit.fewest_left(min(held.size, MOST_PLACES) - audit.judged)


def judgments_keep(held: Certificate, audit: RiskLimitingAudit, now: datetime) -> bool:
    """Add the judgments of the next labels in the order to the audit and its record; return whether there were any.

    They go up to the first that is missing, because people who could leave items out could choose the result. For the same
    reason, a label counts as wrong if its item was retired, or if its experts don't agree in time.
    """
    places = (audit.judged, audit.judged + STEP)
    items_lock(label.verdict.item_id for label in labels_between(held, *places))  # no opinion comes in between
    labels = labels_between(held, *places)
    alone, deciding = opinions_of([label.case_id for label in labels if label.case_id])
    names = _names(held, labels)
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
        lines_append(held, entries)
        _numbers_keep(held, audit)
        for label in labels[: len(entries)]:
            if label.case is not None and label.case.state in PENDING:
                case_end(case=label.case, to=CaseState.RECALLED, now=now)
    return bool(entries)


def _said(
    held: Certificate,
    label: CertificateLabel,
    deciding: Mapping[int | None, Opinion],
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
        return {"label": text_of(decided.label), "at": text_at(max(decided.at, earliest)), **of_experts}
    without = {"label": "", "at": text_at(max(now, earliest))}
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
    case_ids = [case_id for case_id in (label.case_id for label in [*earlier, *labels]) if case_id]
    alone, _deciding = opinions_of(case_ids)
    for case_id in case_ids:
        for opinion in alone[case_id]:
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
    """Return whether two experts judge the item at a place.

    The share of such items is ``twice``, and double while the experts agree too little.
    """
    kappa, judged = held.numbers.get("kappa"), held.numbers.get("twice", 0)
    is_low = kappa is not None and kappa < LOW_KAPPA and judged >= LEAST_TWICE
    share = min(1.0, 2 * held.twice) if is_low else held.twice
    return int(place * share) > int((place - 1) * share)


def finish(held: Certificate, audit: RiskLimitingAudit, *, now: datetime, actor_id: UUID | None) -> None:
    """Write the result of an audit and sign it."""
    kind = "certified" if audit.is_certified else "ended"
    if held.drawn_at is not None:
        lines = record_lines(held)
        at = max(text_at(now), *(json.loads(line)["at"] for line in lines))  # clocks of machines differ
        lines_append(held, ending(lines, kind, audit, at=at, signer=Signer()))
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
    alone, _deciding = opinions_of(
        held.labels.filter(place__lte=held.judged).exclude(case=None).values_list("case", flat=True)
    )
    twice = [said for said in alone.values() if len(said) > 1]
    held.numbers = {
        "low": low,
        "high": high,
        "twice": len(twice),
        "differ": sum(any(one.label != said[0].label for one in said) for said in twice),
        "kappa": kappa_of(held.campaign, twice),
        "fewest_left": _needed(held, audit),
    }
    held.save(update_fields=["judged", "wrong", "numbers"])


def lines_append(held: Certificate, entries: Sequence[Entry]) -> list[bytes]:
    """Add entries to a record; return all its lines."""
    require_transaction()
    before = record_lines(held)
    lines = chained(before, entries)
    CertificateLine.objects.bulk_create(
        CertificateLine(certificate=held, number=number, line=line.decode())
        for number, line in enumerate(lines[len(before) :], start=len(before) + 1)
    )
    return lines


def locked(certificate: Certificate) -> Certificate:
    """Return the certificate with its row locked."""
    require_transaction()
    return (
        Certificate.objects.select_for_update(of=("self",), no_key=True)
        .select_related("campaign")
        .get(pk=certificate.pk)
    )
