"""Certificates in a campaign: their files, the labels to judge next, and what experts said of them."""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Collate

from annotation.campaigns.selectors.sealing import sealed_names
from annotation.models import Campaign, ItemState
from annotation.tasktypes.registry import voted
from measures.certificates import Claim, RiskLimitingAudit, expert_error, wrong_if_experts_err
from quality.certificates.entries import LABELS, PAGE, RECORD, line_of, place_of
from quality.certificates.models import UNFINISHED, Certificate, CertificateLabel, CertificateState
from quality.experts.selectors import DISCUSSION_DAYS
from quality.labels.selectors.audits import experts_able
from quality.models import PENDING, Case, CaseState, Opinion, Phase
from storage.tables.values import text_of

CHECK_PAGE = Path(__file__).with_name(PAGE)
MOST_PLACES = 10_000  # judgments of one audit
LEAST_TWICE = 10  # items that two experts judged, to say anything of their errors
CHUNK = 5_000


def certificate_unfinished(campaign: Campaign) -> Certificate | None:
    """Return the certificate that a campaign works on."""
    return Certificate.objects.filter(campaign=campaign, state__in=UNFINISHED).first()


def claim_of(certificate: Certificate) -> Claim:
    """Return the claim of a certificate."""
    return Claim(certificate.size, certificate.error, certificate.risk, certificate.guess)


def label_lines(certificate: Certificate) -> Iterator[bytes]:
    """Yield the lines of the file of labels, in the order of the items' ids by code point."""
    order = Collate("verdict__item__external_id", "C" if connection.vendor == "postgresql" else "BINARY")
    rows = certificate.labels.order_by(order).values_list("verdict__item__external_id", "verdict__label")
    for item, label in rows.iterator(chunk_size=CHUNK):
        yield line_of({"item": item, "label": text_of(label)}) + b"\n"


def labels_sha256(certificate: Certificate) -> str:
    """Return the hash of the file of labels."""
    digest = hashlib.sha256()
    for line in label_lines(certificate):
        digest.update(line)
    return digest.hexdigest()


def record_lines(certificate: Certificate) -> list[bytes]:
    """Return the lines of a record, without their ends."""
    return [line.encode() for line in certificate.lines.order_by("number").values_list("line", flat=True)]


def files_of(certificate: Certificate) -> dict[str, Iterable[bytes]]:
    """Return the files with which anyone can check a certificate, by name."""
    return {
        LABELS: label_lines(certificate),
        RECORD: (line + b"\n" for line in record_lines(certificate)),
        PAGE: [CHECK_PAGE.read_bytes()],
    }


def first_places(certificate: Certificate) -> list[int]:
    """Return the labels that come first in the order that the seed gives, by their keys: at most `MOST_PLACES`."""
    rows = certificate.labels.values_list("pk", "verdict__item__external_id").iterator(chunk_size=CHUNK)
    hashed = ((place_of(certificate.seed, item), pk) for pk, item in rows)
    return [pk for _hash, pk in heapq.nsmallest(min(MOST_PLACES, certificate.size), hashed)]


def audit_of(certificate: Certificate) -> RiskLimitingAudit:
    """Return the audit after the judgments in its record."""
    audit = RiskLimitingAudit(claim_of(certificate))
    for is_wrong in judgments_of(certificate):
        audit.add(is_wrong=is_wrong)
    return audit


def judgments_of(certificate: Certificate) -> list[bool]:
    """Return for each judgment in the record, in order, whether the label is wrong."""
    rows = certificate.labels.filter(place__lte=certificate.judged).order_by("place")
    return [bool(is_wrong) for is_wrong in rows.values_list("is_wrong", flat=True)]


def labels_between(certificate: Certificate, after: int, until: int) -> list[CertificateLabel]:
    """Return the labels at some places of the order, with their items and cases."""
    rows = certificate.labels.filter(place__gt=after, place__lte=until).order_by("place")
    return list(rows.select_related("verdict__item__campaign", "case"))


def certificates_to_advance(now: datetime) -> QuerySet[Certificate]:
    """Return the certificates that a job can take further.

    Their next item was judged, retired, or never sent, or its experts discussed it for too long; or they have ended, and
    experts still have items.
    """
    here = CertificateLabel.objects.filter(certificate=OuterRef("pk"))
    alone = Opinion.objects.filter(
        case=OuterRef("case"), phase=Phase.BLIND, at__gt=now - timedelta(days=DISCUSSION_DAYS)
    )
    before_experts = Q(case__state=CaseState.OPEN) | (Q(case__state=CaseState.CONSENSUS) & Exists(alone))
    unsent = Q(case=None) | Q(case__state=CaseState.RECALLED)
    waiting = here.filter(
        before_experts | (unsent & Q(verdict__item__cases__state__in=PENDING)),
        place=OuterRef("judged") + 1,
        verdict__item__state=ItemState.ACTIVE,
    )
    left = Exists(here.filter(case__state__in=PENDING))
    is_over = Q(state__in=[CertificateState.CERTIFIED, CertificateState.ENDED])
    return Certificate.objects.filter(Q(~Exists(waiting), state=CertificateState.JUDGING) | (is_over & left))


def sensitivity_of(certificate: Certificate) -> dict[str, float] | None:
    """Return what the experts' own errors may mean: their estimated rate, and the share of wrong labels at that rate.

    None if two experts judged too few items, never differed, or differ so often that nothing can be told.
    """
    twice, differ = certificate.numbers.get("twice", 0), certificate.numbers.get("differ", 0)
    if twice < LEAST_TWICE or not differ:
        return None
    labels = len(voted(certificate.campaign.task_type).labels)
    error = expert_error(twice, differ, labels)
    share = None if error is None else wrong_if_experts_err(certificate.wrong / certificate.judged, error, labels)
    return None if share is None or error is None else {"error": error, "share": share}


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a release states of a certificate that was reached; times are ISO 8601 text, shares between 0 and 1."""

    number: int
    error: float
    risk: float
    labels: int
    judged: int
    wrong: int
    low: float
    high: float
    twice: int
    differ: int
    source: str
    seed: str
    published: str
    key: str
    frozen_at: str
    drawn_at: str
    certified_at: str


def certificate_facts(certificate: Certificate) -> CertificateFacts:
    """Return the facts of a certificate that was reached."""
    of = {entry["kind"]: entry for entry in map(json.loads, record_lines(certificate)) if entry["kind"] != "judged"}
    return CertificateFacts(
        number=certificate.number,
        error=certificate.error,
        risk=certificate.risk,
        labels=certificate.size,
        judged=certificate.judged,
        wrong=certificate.wrong,
        **{name: certificate.numbers[name] for name in ("low", "high", "twice", "differ")},
        source=certificate.source or "texts of " + ", ".join(certificate.commitments),
        seed=certificate.seed,
        published=certificate.published,
        key=of["signed"]["key"],
        frozen_at=of["frozen"]["at"],
        drawn_at=of["drawn"]["at"],
        certified_at=of["certified"]["at"],
    )


def certificates_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the certificates of a campaign, the latest first, with what pages show of each."""
    rows = Certificate.objects.filter(campaign=campaign).select_related("campaign").order_by("-number")
    is_sealed = bool(sealed_names(campaign))
    return [
        {
            "certificate": row,
            "is_unfinished": row.state in UNFINISHED,
            "sensitivity": sensitivity_of(row),
            "sealed": sealed_in(row) if is_sealed else [],
            "hindrance": hindrance_of(row) if row.state == CertificateState.JUDGING else "",
        }
        for row in rows
    ]


def hindrance_of(certificate: Certificate) -> str:
    """Return what keeps the next item from being judged; empty if nothing does.

    ``experts``: too few experts may judge it. ``discussion``: its experts differ. ``case``: experts judge it for another
    reason.
    """
    label = next(iter(labels_between(certificate, certificate.judged, certificate.judged + 1)), None)
    if label is None:
        return ""
    if label.case is None or label.case.state == CaseState.RECALLED:
        pending = Case.objects.filter(item=label.verdict.item_id, state__in=PENDING)
        return "case" if pending.exists() else ""
    if label.case.state == CaseState.CONSENSUS:
        return "discussion"
    said = label.case.opinions.filter(phase=Phase.BLIND).count()
    able = experts_able(certificate.campaign, [label.verdict.item_id])[label.verdict.item_id]
    return "experts" if label.case.state == CaseState.OPEN and said + len(able) < label.case.experts else ""


def sealed_in(certificate: Certificate) -> list[str]:
    """Return the names of splits that were sealed later: the files show their labels, so nobody gets them any more."""
    splits = certificate.campaign.splits.exclude(sealed_at=None)
    there = CertificateLabel.objects.filter(certificate=certificate, verdict__item__split=OuterRef("pk"))
    return list(splits.filter(Exists(there)).order_by("position").values_list("name", flat=True))
