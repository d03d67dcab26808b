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
from annotation.items.services.items import item_retire
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from jobs.models import Job, JobState
from jobs.ticks import tick
from measures.certificates import Claim, expert_error, wrong_if_experts_err
from quality.certificates import judging, services
from quality.certificates.checks import problems, state_of
from quality.certificates.entries import in_order
from quality.certificates.selectors import files_of, hindrance_of, record_lines
from quality.certificates.services import CertificateError, certificate_end
from quality.experts.services.cases import case_ask
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
    Opinion,
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
from tests.quality.worlds import expert_of

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
    assert Case.objects.filter(state=CaseState.RECALLED).count() <= judging.LEAST_AHEAD
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


def test_the_label_of_an_item_that_was_retired_counts_as_wrong(labelled, tmp_path):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss, twice=0)
    draw(certificate, boss)
    for case in Case.objects.order_by("pk")[:2]:
        item_retire(item=case.item, reason="x", actor_id=boss.surrogate_id, now=timezone.now())
    go_on()
    certificate.refresh_from_db()
    assert (certificate.judged, certificate.wrong) == (2, 2)
    finish(campaign, certificate, experts)
    record = in_folder(certificate, tmp_path)
    assert not list(problems(record))
    assert [entry["label"] for entry in record.judged()][:3] == ["", "", "4"]


def test_a_label_that_changes_after_the_freeze_is_certified_as_it_was(labelled, tmp_path):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss)
    before = b"".join(files_of(certificate)["labels.jsonl"])
    draw(certificate, boss)
    certificate.refresh_from_db()
    annotation = Annotation.objects.exclude(item__cases__state=CaseState.OPEN).order_by("pk").last()
    annotation_exclude(annotation=annotation, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert not Verdict.objects.filter(item=annotation.item, superseded_at=None).exists()
    finish(campaign, certificate, experts)
    assert b"".join(files_of(certificate)["labels.jsonl"]) == before
    assert not list(problems(in_folder(certificate, tmp_path)))


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
        return sum(judging._is_twice(certificate, place) for place in range(1, 101))

    assert twice({}) == twice({"kappa": None, "twice": 30}) == twice({"kappa": 0.6, "twice": 30}) == 20
    assert twice({"kappa": 0.3, "twice": 9}) == 20
    assert twice({"kappa": 0.3, "twice": 10}) == 40
    certificate.twice = 0.7
    assert twice({"kappa": 0.3, "twice": 10}) == 100


def test_an_item_before_the_experts_for_another_reason_waits(labelled):
    campaign, boss, experts = labelled
    order = in_order(SEED, list(campaign.items.values_list("external_id", flat=True)))
    item = campaign.items.get(external_id=order[0])
    case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    certificate = freeze(campaign, boss, twice=0)
    draw(certificate, boss)
    certificate.refresh_from_db()
    assert hindrance_of(certificate) == "case"
    judge(Case.objects.get(item=item), experts[0], 4)
    go_on()
    own = Case.objects.get(item=item, because=CaseReason.AUDIT)
    with pytest.raises(Exception, match="already judged this item"):
        judge(own, experts[0], 4)
    judge(own, experts[1], 4)
    go_on()
    certificate.refresh_from_db()
    assert certificate.judged == 1


def test_an_item_that_no_expert_may_judge_is_pointed_out(labelled):
    campaign, boss, experts = labelled
    order = in_order(SEED, list(campaign.items.values_list("external_id", flat=True)))
    item = campaign.items.get(external_id=order[0])
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=timezone.now())
    for expert in experts:
        judge(Case.objects.get(item=item), expert, 4)
    certificate = freeze(campaign, boss)
    draw(certificate, boss)
    certificate.refresh_from_db()
    assert hindrance_of(certificate) == "experts"
    page = Client()
    page.force_login(boss)
    text = page.get(reverse("quality-certificates", args=[campaign.slug])).content.decode()
    assert "The next item doesn't have enough eligible experts" in text
    expert_of(campaign)
    assert hindrance_of(certificate) == ""


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
    keep, left = judging.lines_append, [step]

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

    for module in (services, judging):
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


def test_times_of_machines_whose_clocks_differ_are_in_order(labelled, tmp_path):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss, twice=0)
    Certificate.objects.update(frozen_at=timezone.now() + timedelta(minutes=1))  # by a machine that is ahead
    record_lines_at(certificate, timezone.now() + timedelta(minutes=1))
    order = in_order(SEED, list(campaign.items.values_list("external_id", flat=True)))
    item_retire(
        item=campaign.items.get(external_id=order[0]), reason="x", actor_id=boss.surrogate_id, now=timezone.now()
    )
    draw(certificate, boss)
    certificate.refresh_from_db()
    finish(campaign, certificate, experts)
    assert certificate.state == CertificateState.CERTIFIED
    assert not list(problems(in_folder(certificate, tmp_path)))


def record_lines_at(certificate, at):
    """Write the first line again, as if at another time."""
    [row] = certificate.lines.all()
    entry = json.loads(row.line) | {"at": at.isoformat(timespec="seconds")}
    row.line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    row.save()


def test_another_case_of_a_judged_item_does_not_stop_the_audit(labelled):
    campaign, boss, (one, _two) = labelled
    certificate = freeze(campaign, boss, twice=0)
    draw(certificate, boss)
    first = Case.objects.order_by("pk").first()
    judge(first, one, 4)
    case_ask(item=first.item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    go_on()
    certificate.refresh_from_db()
    assert certificate.judged == 1


def test_experts_who_do_not_agree_in_time_make_the_label_count_as_wrong(labelled, tmp_path):
    campaign, boss, (one, two) = labelled
    certificate = freeze(campaign, boss, twice=1)
    draw(certificate, boss)
    case = Case.objects.order_by("pk").first()
    judge(case, one, 4)
    judge(case, two, 3)
    certificate.refresh_from_db()
    assert hindrance_of(certificate) == "discussion"
    page = Client()
    page.force_login(boss)
    text = page.get(reverse("quality-certificates", args=[campaign.slug])).content.decode()
    assert "If they don't agree within 7 days" in text
    go_on()
    certificate.refresh_from_db()
    assert certificate.judged == 0
    Opinion.objects.update(at=timezone.now() - timedelta(days=8))
    go_on()
    certificate.refresh_from_db()
    case.refresh_from_db()
    assert (certificate.judged, certificate.wrong, case.state) == (1, 1, CaseState.RECALLED)
    [*_, last] = record_lines(certificate)
    assert (json.loads(last)["undecided"], json.loads(last)["alone"]) == (True, ["4", "3"])
    finish(campaign, certificate, [one, two])
    assert not list(problems(in_folder(certificate, tmp_path)))


def test_cases_are_recalled_though_the_job_that_should_have_failed(labelled):
    campaign, boss, _experts = labelled
    certificate = freeze(campaign, boss)
    draw(certificate, boss)
    certificate_end(certificate=certificate, actor_id=boss.surrogate_id, now=timezone.now())
    Job.objects.filter(state=JobState.QUEUED).delete()
    go_on()
    assert not Case.objects.filter(state=CaseState.OPEN).exists()
    tick(now=timezone.now())
    assert not Job.objects.filter(kind=services.KIND, state=JobState.QUEUED).exists()


def test_an_audit_ends_when_no_certificate_can_be_reached(labelled):
    campaign, boss, experts = labelled
    certificate = freeze(campaign, boss, error=0.05, twice=0)
    draw(certificate, boss)
    certificate.refresh_from_db()
    finish(campaign, certificate, experts, set(campaign.items.values_list("external_id", flat=True)))
    assert certificate.state == CertificateState.ENDED
    assert certificate.judged < ITEMS


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
