"""Certificates in a campaign: from frozen labels to a signed record that a stranger can check."""

import hashlib
import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.selectors.sealing import LEAST_ITEMS
from jobs.models import Job, JobState
from measures.certificates import Claim, expert_error, wrong_if_experts_err
from quality.certificates import progress, services
from quality.certificates.checks import problems, state_of
from quality.certificates.entries import in_order
from quality.certificates.selectors import record_lines
from quality.certificates.services import CertificateError, certificate_end
from quality.experts.services.opinions import consensus_confirm, consensus_propose
from quality.labels.services.sealing import SealError, split_seal
from quality.models import (
    Case,
    CaseReason,
    CaseState,
    Certificate,
    CertificateLine,
    CertificateState,
    Inspection,
    Verdict,
)
from tests import factories
from tests.quality.certificates.worlds import (
    ITEMS,
    SEED,
    draw,
    finish,
    freeze,
    go_on,
    in_folder,
    judge,
    labelled_campaign,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def labelled():
    """Return a campaign with labels, its manager and two experts."""
    return labelled_campaign()


def test_from_frozen_labels_to_a_certificate_that_a_stranger_can_check(labelled, tmp_path):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss)
    assert (certificate.state, certificate.size) == (CertificateState.FROZEN, ITEMS)
    [first] = record_lines(certificate)
    assert certificate.published == hashlib.sha256(first).hexdigest()
    draw(certificate, boss)
    order = in_order(SEED, list(campaign.items.values_list("external_id", flat=True)))
    opened = Case.objects.filter(because=CaseReason.AUDIT, state=CaseState.OPEN).order_by("pk")
    needed = Claim(ITEMS, 0.2, 0.05, 0.0)
    assert [case.item.external_id for case in opened] == order[: len(opened)]
    certificate.refresh_from_db()
    finish(campaign, certificate, experts, wrong={order[3]})
    assert (certificate.state, certificate.wrong) == (CertificateState.CERTIFIED, 1)
    record = in_folder(certificate, tmp_path)
    assert not list(problems(record))
    assert record.claim == needed
    assert (state_of(record).outcome, state_of(record).judged) == ("certified", certificate.judged)
    assert [entry["item"] for entry in record.judged()] == order[: certificate.judged]
    assert {entry["expert"] for entry in record.judged()} == {"expert 1", "expert 1 and expert 2"}
    assert not Case.objects.filter(state=CaseState.OPEN).exists()
    assert set(Verdict.objects.filter(superseded_at=None).values_list("label", flat=True)) == {4}


def test_experts_get_no_more_items_than_are_needed(labelled):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss)
    draw(certificate, boss)
    certificate.refresh_from_db()
    finish(campaign, certificate, experts)
    assert Case.objects.filter(state=CaseState.RECALLED).count() <= progress.LEAST_AHEAD
    assert Case.objects.filter(state=CaseState.DECIDED).count() == certificate.judged


def test_judgments_wait_for_those_that_come_before_them(labelled):
    campaign, boss, (one, _two) = labelled
    certificate = freeze(campaign, boss, twice=0)
    draw(certificate, boss)
    first, *others = Case.objects.order_by("pk")
    for case in others:
        judge(case, one, 4)
    go_on()
    certificate.refresh_from_db()
    assert certificate.judged == 0
    judge(first, one, 4)
    go_on()
    certificate.refresh_from_db()
    assert certificate.judged == len(others) + 1


def test_too_many_wrong_labels_end_the_audit_without_a_certificate(labelled, tmp_path):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss)
    draw(certificate, boss)
    certificate.refresh_from_db()
    wrong = set(campaign.items.order_by("pk").values_list("external_id", flat=True)[:13])
    finish(campaign, certificate, experts, wrong)
    assert (certificate.state, certificate.judged, certificate.wrong) == (CertificateState.ENDED, ITEMS, 13)
    record = in_folder(certificate, tmp_path)
    assert not list(problems(record))
    assert record.has("ended")


def test_ending_an_audit_keeps_what_was_judged_and_recalls_the_rest(labelled, tmp_path):
    campaign, boss, (one, _two) = labelled
    certificate = freeze(campaign, boss, twice=0)
    draw(certificate, boss)
    judge(Case.objects.order_by("pk").first(), one, 4)
    certificate_end(certificate=certificate, actor_id=boss.surrogate_id, now=timezone.now())
    factories.run_jobs()
    certificate.refresh_from_db()
    assert (certificate.state, certificate.judged) == (CertificateState.ENDED, 1)
    assert not Case.objects.filter(state=CaseState.OPEN).exists()
    record = in_folder(certificate, tmp_path)
    assert not list(problems(record))
    assert record.has("ended") and record.has("signed")
    with pytest.raises(CertificateError, match="already ended"):
        certificate_end(certificate=certificate, actor_id=boss.surrogate_id, now=timezone.now())
    assert freeze(campaign, boss).number == 2


def test_a_seed_is_set_once_and_is_what_was_announced(labelled):
    campaign, boss, _experts = labelled
    hashed = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in (("ann", "seven"), ("bo", "雨"))}
    certificate = freeze(campaign, boss, source="", commitments=hashed)
    with pytest.raises(CertificateError):
        draw(certificate, boss, seed="", reveals={"ann": "seven", "bo": "rain"})
    with pytest.raises(CertificateError):
        draw(certificate, boss, seed=SEED)
    draw(certificate, boss, seed="", reveals={"ann": "seven", "bo": "雨"})
    with pytest.raises(CertificateError, match="isn't waiting for a seed"):
        draw(certificate, boss, seed="", reveals={"ann": "seven", "bo": "雨"})


def test_two_experts_show_how_much_their_errors_matter(labelled):
    campaign, boss, (one, two) = labelled
    certificate = freeze(campaign, boss, twice=1)
    draw(certificate, boss)
    cases = list(Case.objects.order_by("pk"))
    for place, case in enumerate(cases):
        judge(case, one, 4)
        judge(case, two, 3 if place < 2 else 4)
    for case in cases[:2]:
        said = {"label": 4}
        proposal = consensus_propose(
            case=case, surrogate_id=one.surrogate_id, said=said, justification="x", now=timezone.now()
        )
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=two.surrogate_id, now=timezone.now())
    go_on()
    certificate.refresh_from_db()
    assert (certificate.numbers["twice"], certificate.numbers["differ"]) == (len(cases), 2)
    assert -1 <= certificate.numbers["kappa"] < 0.6
    [*_, last] = record_lines(certificate)[:4]
    assert json.loads(last)["alone"] == ["4", "3"]
    page = Client()
    page.force_login(boss)
    text = page.get(reverse("quality-certificates", args=[campaign.slug])).content.decode()
    assert f"Two experts judged {len(cases)} of these items and differed on 2." in text
    error = expert_error(len(cases), 2, 4)
    share = wrong_if_experts_err(certificate.wrong / certificate.judged, error, 4)
    assert share is None and "errs independently" not in text  # no label was found wrong


def test_experts_who_agree_too_little_judge_more_items_twice(labelled):
    campaign, boss, _experts = labelled
    certificate = freeze(campaign, boss, twice=0.2)

    def twice(numbers):
        certificate.numbers = numbers
        return sum(progress._is_twice(certificate, place) for place in range(1, 101))

    assert twice({}) == twice({"kappa": None, "twice": 30}) == twice({"kappa": 0.6, "twice": 30}) == 20
    assert twice({"kappa": 0.3, "twice": 9}) == 20
    assert twice({"kappa": 0.3, "twice": 10}) == 40
    certificate.twice = 0.7
    assert twice({"kappa": 0.3, "twice": 10}) == 100


def test_a_second_certificate_waits_for_the_first_and_needs_labels(labelled):
    campaign, boss, _experts = labelled
    first = freeze(campaign, boss)
    assert freeze(campaign, boss) == first
    small = factories.antique(items=3, n=1)
    assert freeze(small, boss) == first
    assert not Certificate.objects.filter(campaign=small).exists()


def test_a_split_is_sealed_after_the_audit_and_its_labels_leave_with_no_file(labelled):
    campaign, boss, _experts = labelled
    certificate = freeze(campaign, boss)
    split = campaign.items.first().split
    assert split.items.count() >= LEAST_ITEMS
    with pytest.raises(SealError, match="for a certificate"):
        split_seal(split=split, actor_id=boss.surrogate_id, now=timezone.now())
    certificate_end(certificate=certificate, actor_id=boss.surrogate_id, now=timezone.now())
    page = Client()
    page.force_login(boss)
    url = reverse("quality-certificate-file", args=[campaign.slug, certificate.number, "labels.jsonl"])
    assert page.get(url).status_code == 200
    Inspection.objects.update(verdict="good")
    split_seal(split=split, actor_id=boss.surrogate_id, now=timezone.now())
    assert page.get(url).status_code == 404
    text = page.get(reverse("quality-certificates", args=[campaign.slug])).content.decode()
    assert "labels of splits that were sealed later" in text and url not in text


class Killed(BaseException):
    """The process died here."""


@pytest.mark.parametrize("step", range(1, 6))  # freeze, seed, two parts of the judgments, end
def test_a_process_that_is_killed_anywhere_changes_nothing(labelled, tmp_path, monkeypatch, step):
    campaign, boss, experts = labelled
    keep, left = progress.lines_append, [step]

    def dying(held, entries):
        lines = keep(held, entries)
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return lines

    def survive(action):
        with suppress(Killed):
            action()
        Job.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=1))

    for module in (services, progress):
        monkeypatch.setattr(module, "lines_append", dying)
    order = in_order(SEED, list(campaign.items.values_list("external_id", flat=True)))
    survive(lambda: freeze(campaign, boss))
    go_on()
    certificate = Certificate.objects.get()
    for _ in range(2):  # a person presses again
        if certificate.state == CertificateState.FROZEN:
            survive(lambda: draw(certificate, boss))
            certificate.refresh_from_db()
    go_on()
    for _ in range(2):
        survive(lambda: finish(campaign, certificate, experts, {order[3]}))
    record = in_folder(certificate, tmp_path)
    assert left[0] <= 0
    assert not list(problems(record))
    assert (state_of(record).outcome, state_of(record).wrong) == ("certified", 1)
    assert CertificateLine.objects.count() == certificate.judged + 4


def test_what_nothing_can_be_said_of_is_not_said():
    assert expert_error(2, 2, 4) is None
    assert expert_error(20, 10, 2) is None
    assert expert_error(20, 0, 2) == 0
    assert wrong_if_experts_err(0.02, 0.05, 2) is None
    assert wrong_if_experts_err(0.06, 0.0, 2) == 0.06


def test_texts_with_line_breaks_can_be_revealed(labelled):
    campaign, boss, _experts = labelled
    words = {"ann": "one\ntwo" * 100, "bo": "雨"}
    hashed = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in words.items()}
    certificate = freeze(campaign, boss, source="", commitments=hashed)
    page = Client()
    page.force_login(boss)
    url = reverse("quality-certificates", args=[campaign.slug])
    sent = {"certificate": certificate.pk, "text0": words["ann"].replace("\n", "\r\n"), "text1": "rain"}
    assert "This isn't the text whose hash was published" in page.post(url, sent).content.decode().replace(
        "&#x27;", "'"
    )
    assert page.post(url, sent | {"text1": "雨"}).status_code == 302
    certificate.refresh_from_db()
    assert certificate.state == CertificateState.JUDGING


def test_stated_shares_are_shown_as_stated(labelled):
    campaign, boss, _experts = labelled
    freeze(campaign, boss, error=0.0124, risk=0.0144)
    page = Client()
    page.force_login(boss)
    url = reverse("quality-certificates", args=[campaign.slug])
    text = page.get(url, {"error": "0.001", "risk": "0.05"}).content.decode()
    assert f"Claim: at most 1.24% of the {ITEMS} labels are wrong, at a risk of 1.44%" in text
    assert "0.02%" in text
