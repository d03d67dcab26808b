"""What gets in the way of an audit: retired items, other cases, experts who differ, clocks, jobs that fail."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.items.services.items import item_retire
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from jobs.models import Job, JobState
from jobs.ticks import tick
from quality.certificates import services
from quality.certificates.checks import problems
from quality.certificates.entries import in_order
from quality.certificates.selectors import files_of, hindrance_of, record_lines
from quality.certificates.services import certificate_end
from quality.experts.services.cases import case_ask
from quality.models import (
    Case,
    CaseReason,
    CaseState,
    Certificate,
    CertificateState,
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
