"""Audits: labels are drawn as they are, judged by experts who did not set them, and stay as they are."""

from contextlib import suppress

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.items.services.items import item_retire
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from exports.services import release_freeze
from jobs.models import Job
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.selectors import case_next
from quality.experts.services.cases import CaseError, case_ask
from quality.experts.services.opinions import consensus_confirm, consensus_propose, opinion_give
from quality.labels.selectors.audits import audits_of, label_error_of, labels_of
from quality.labels.services import audits
from quality.labels.services.audits import audit_call_off
from quality.models import Audit, AuditItem, Case, CaseReason, CaseState, Verdict
from tests import factories
from tests.quality.worlds import draw_audit, expert_of

pytestmark = pytest.mark.django_db
ITEMS = 40


@pytest.fixture
def labelled():
    """Return a campaign of forty items, each labeled 4 by one vote, its manager and two experts."""
    campaign = factories.antique(items=ITEMS, n=1)
    person = factories.annotator(campaign)
    for _ in range(ITEMS):
        factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert Verdict.objects.count() == ITEMS
    return campaign, factories.user(is_admin=True), [expert_of(campaign) for _ in range(2)]


def judge(case, expert, label):
    return opinion_give(
        case=case, surrogate_id=expert.surrogate_id, said={"label": label}, justification="", now=timezone.now()
    )


def judge_all(campaign, experts, wrong=0):
    """Let experts judge what is open: the first ``wrong`` items as 1, the others as 4."""
    for number, case in enumerate(Case.objects.filter(campaign=campaign, state=CaseState.OPEN).order_by("pk")):
        for expert in experts[: case.experts]:
            judge(case, expert, 1 if number < wrong else 4)


def test_an_audit_measures_the_labels_and_changes_none(labelled):
    campaign, boss, experts = labelled
    audit = draw_audit(campaign, boss)
    assert (audit.strata, audit.drawn_by_id) == (
        [{"items": ITEMS, "drawn": 30, "by_expert": False, "doubt": audit.strata[0]["doubt"]}],
        boss.surrogate_id,
    )
    cases = Case.objects.filter(because=CaseReason.AUDIT)
    assert (cases.count(), cases.filter(experts=2).count()) == (30, 6)
    judge_all(campaign, experts, wrong=3)
    factories.run_jobs()
    found = audits_of(campaign)[0]
    assert found["share"] == pytest.approx(3 / 30)
    assert 0 < found["low"] < 0.1 < found["high"] < 0.25
    assert (found["judged"], found["twice"], found["changed_since"], found["left_out"]) == (30, 6, 0, 0)
    assert set(Verdict.objects.filter(superseded_at=None).values_list("label", flat=True)) == {4}
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    page = Client()
    page.force_login(boss)
    text = page.get(reverse("quality-audits", args=[campaign.slug])).content.decode()
    assert "10.0% of the 40 labels as of" in text
    assert "The audit covered 30 items" in text


def test_a_release_says_what_the_last_finished_audit_found(labelled):
    campaign, boss, experts = labelled
    options = {"family": "antique", "ways": 1, "splits": [], "seed": 0, "shards": 1, "actor_id": boss.surrogate_id}
    assert release_freeze(campaign=campaign, now=timezone.now(), **options).frozen["label_error"] is None
    audit_call_off(audit=draw_audit(campaign, boss, seed=1), actor_id=boss.surrogate_id, now=timezone.now())
    draw_audit(campaign, boss, seed=2)
    judge_all(campaign, experts, wrong=6)
    for _ in range(2):
        expert_of(campaign)
    draw_audit(campaign, boss, seed=3)
    found = release_freeze(campaign=campaign, now=timezone.now(), **options).frozen["label_error"]
    assert (found["seed"], found["share"], found["audits"], found["called_off"]) == (2, pytest.approx(0.2), 3, 1)


def test_a_label_of_an_item_that_was_retired_is_gone(labelled):
    campaign, boss, experts = labelled
    audit = draw_audit(campaign, boss)
    judge_all(campaign, experts)
    judged = audit.items.values("verdict__item")
    for item in list(campaign.items.filter(pk__in=judged).order_by("pk")[:3]):
        item_retire(item=item, reason="x", actor_id=boss.surrogate_id, now=timezone.now())
    assert audits_of(campaign)[0]["changed_since"] == 3
    options = {"family": "antique", "ways": 1, "splits": [], "seed": 0, "shards": 1, "actor_id": boss.surrogate_id}
    found = release_freeze(campaign=campaign, now=timezone.now(), **options).frozen["label_error"]
    assert (found["labels"], found["released"], found["missing"]) == (ITEMS, ITEMS - 3, 3)


def test_an_expert_does_not_audit_what_they_judged_before(labelled):
    campaign, boss, (first, second) = labelled
    item = campaign.items.order_by("pk").first()
    case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    judge(Case.objects.get(), first, 4)
    draw_audit(campaign, boss, count=ITEMS)
    case = Case.objects.get(item=item, because=CaseReason.AUDIT)
    with pytest.raises(CaseError, match="already judged this item"):
        judge(case, first, 4)
    Case.objects.exclude(pk=case.pk).update(state=CaseState.DECIDED)
    assert case_next(campaign=campaign, surrogate_id=first.surrogate_id) is None
    assert case_next(campaign=campaign, surrogate_id=second.surrogate_id) == case


def test_an_item_that_loses_its_label_during_an_audit_is_not_labelled_by_it(labelled):
    campaign, boss, experts = labelled
    draw_audit(campaign, boss)
    case = Case.objects.filter(experts=1).first()
    annotation = Annotation.objects.get(item=case.item)
    annotation_exclude(annotation=annotation, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.run_jobs()
    judge(case, experts[0], 1)
    factories.run_jobs()
    assert not Verdict.objects.filter(item=case.item, superseded_at=None).exists()
    assert audits_of(campaign)[0]["changed_since"] == 1


def test_what_an_audit_finds_of_an_item_without_agreement_is_no_label_and_experts_are_asked_again():
    campaign = factories.antique(items=1, n=3)
    for label in (4, 3, 2, 4, 3, 2):
        factories.vote(campaign, factories.annotator(campaign), label)
        factories.examine(campaign)
    # As if its votes had still agreed when it was drawn.
    Case.objects.filter(because=CaseReason.NO_AGREEMENT).update(because=CaseReason.AUDIT)
    first, second = expert_of(campaign), expert_of(campaign)
    judge(Case.objects.get(), first, 1)
    factories.run_jobs()
    assert not Verdict.objects.exists()
    asked = Case.objects.get(state=CaseState.OPEN)
    assert asked.because == CaseReason.NO_AGREEMENT
    judge(asked, second, 2)
    assert Verdict.objects.get().label == 2


def test_two_who_differ_come_to_a_consensus_that_counts(labelled):
    campaign, boss, experts = labelled
    draw_audit(campaign, boss, twice=1)
    first, *rest = Case.objects.order_by("pk")
    judge(first, experts[0], 4)
    judge(first, experts[1], 3)
    for case in rest:
        for expert in experts:
            judge(case, expert, 4)
    assert "share" not in audits_of(campaign)[0]
    proposal = consensus_propose(
        case=first, surrogate_id=experts[0].surrogate_id, said={"label": 3}, justification="So.", now=timezone.now()
    )
    assert "share" not in audits_of(campaign)[0]  # a proposal decides nothing
    consensus_confirm(case=first, proposal_id=proposal.pk, surrogate_id=experts[1].surrogate_id, now=timezone.now())
    found = label_error_of(campaign)
    assert found["share"] == pytest.approx(1 / 30)
    assert found["kappa"] == pytest.approx(-0.017)  # of sixty entries in both orders, two differ by a step: by hand


def test_a_worker_that_dies_opens_each_case_once(labelled, monkeypatch):
    campaign, boss, _experts = labelled
    monkeypatch.setattr(audits, "CHUNK", 7)
    opened, calls = audits._cases_open, []

    def dying(*arguments):
        calls.append(1)
        if len(calls) in (2, 4):
            raise KeyboardInterrupt
        return opened(*arguments)

    monkeypatch.setattr(audits, "_cases_open", dying)
    client = Client()
    client.force_login(boss)
    client.post(reverse("quality-audits", args=[campaign.slug]), {"count": "30", "twice": "0.2"})
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            factories.run_jobs()
        Job.objects.filter(kind="quality.audit").update(lease_until=timezone.now())
    factories.run_jobs()
    assert Job.objects.get(kind="quality.audit").state == "done"
    assert (Audit.objects.count(), AuditItem.objects.filter(case__isnull=False).count(), Case.objects.count()) == (
        1,
        30,
        30,
    )


def test_nobody_chooses_the_seed_of_an_audit(labelled):
    campaign, boss, _experts = labelled
    client = Client()
    client.force_login(boss)
    url = reverse("quality-audits", args=[campaign.slug])
    assert 'name="seed"' not in client.get(url).content.decode()
    seeds = []
    for _ in range(2):
        client.post(url, {"count": "30", "twice": "0.2", "seed": "3"})
        factories.run_jobs()
        audit = Audit.objects.latest("pk")
        seeds.append(audit.seed)
        audit_call_off(audit=audit, actor_id=boss.surrogate_id, now=timezone.now())
        factories.run_jobs()
    assert 3 not in seeds and len(set(seeds)) == 2


def test_a_refused_draw_is_not_repeated_until_it_leaves_out_what_was_in_its_way(labelled):
    campaign, boss, _experts = labelled
    client = Client()
    client.force_login(boss)
    drawn = set()
    for _ in range(2):
        for item in campaign.items.order_by("pk")[:35]:
            with suppress(CaseError):
                case_ask(
                    item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now()
                )
        client.post(reverse("quality-audits", args=[campaign.slug]), {"count": "30", "twice": "0.2"})
        factories.run_jobs()
        assert not Audit.objects.exists()
        drawn.add(audits._seed(campaign))
    assert len(drawn) == 1


def test_an_audit_that_is_called_off_leaves_nothing_before_the_experts_and_has_no_result(labelled):
    campaign, boss, experts = labelled
    audit = draw_audit(campaign, boss)
    judge(Case.objects.order_by("pk").first(), experts[0], 1)
    client = Client()
    client.force_login(boss)
    url = reverse("quality-audits", args=[campaign.slug])
    assert "stays on record" in client.post(url, {"call_off": audit.pk}, follow=True).content.decode()
    assert "already ended" in client.post(url, {"call_off": audit.pk}, follow=True).content.decode()
    factories.run_jobs()
    assert not Case.objects.filter(state=CaseState.OPEN).exists()
    assert label_error_of(campaign) is None
    assert audits_of(campaign)[0]["called_off"]


def test_what_cannot_be_audited_is_refused_with_the_reason(labelled):
    campaign, boss, _experts = labelled
    nobody = factories.antique(items=2, n=1)
    client = Client()
    client.force_login(boss)
    assert "at least 30 labels" in client.get(reverse("quality-audits", args=[nobody.slug])).content.decode()
    for item in campaign.items.order_by("pk")[:35]:
        case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    client.post(reverse("quality-audits", args=[campaign.slug]), {"count": "30", "twice": "0.2"})
    factories.run_jobs()
    job = Job.objects.get(kind="quality.audit")
    assert (job.state, Audit.objects.count()) == ("failed", 0)
    assert "for another reason" in job.error
    page = client.post(reverse("quality-audits", args=[campaign.slug]), {"count": "5", "twice": "0"})
    assert page.status_code == 200
    assert Job.objects.filter(kind="quality.audit").count() == 1


def test_an_item_without_agreement_comes_before_the_experts_when_its_audit_is_called_off(labelled):
    campaign, boss, _experts = labelled
    item = factories.antique(items=1, n=3).items.get()
    for label in (4, 3, 2, 4, 3, 2):
        factories.vote(item.campaign, factories.annotator(item.campaign), label)
        factories.examine(item.campaign)
    audit = draw_audit(campaign, boss)
    # As if the item had been drawn while its votes still agreed.
    Case.objects.filter(item=item).update(because=CaseReason.AUDIT, campaign=campaign)
    AuditItem.objects.filter(pk=audit.items.first().pk).update(case=Case.objects.get(item=item))
    Audit.objects.filter(pk=audit.pk).update(campaign=item.campaign)
    assert audit_call_off(audit=audit, actor_id=boss.surrogate_id, now=timezone.now())
    factories.run_jobs()
    assert list(item.cases.order_by("pk").values_list("because", "state")) == [
        (CaseReason.AUDIT, CaseState.RECALLED),
        (CaseReason.NO_AGREEMENT, CaseState.OPEN),
    ]


def test_an_audit_that_could_not_end_is_not_drawn(labelled):
    campaign, boss, (first, _second) = labelled
    for item in campaign.items.order_by("pk")[:36]:
        case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
        judge(Case.objects.get(item=item), first, 4)
    client, fields = Client(), {"count": "40", "twice": "0.2"}
    client.force_login(boss)
    client.post(reverse("quality-audits", args=[campaign.slug]), fields)
    factories.run_jobs()
    assert "judge 8 of the drawn items, but only 4" in Job.objects.get(kind="quality.audit").error
    assert not Audit.objects.exists()
    third = expert_of(campaign)
    audit = draw_audit(campaign, boss, count=40)
    assert audit.items.filter(experts=2).count() == 8
    assert audits_of(campaign)[0]["stuck"] == 0
    third.memberships.all().delete()
    assert audits_of(campaign)[0]["stuck"] > 0


def test_what_is_said_of_a_release_counts_the_labels_that_the_audit_is_not_about(labelled):
    campaign, boss, experts = labelled
    draw_audit(campaign, boss)
    judge_all(campaign, experts)
    annotation = Annotation.objects.filter(campaign=campaign).order_by("pk").first()
    annotation_exclude(annotation=annotation, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert (audits_of(campaign)[0]["changed_since"], audits_of(campaign)[0]["new_since"]) == (1, 0)
    factories.vote(campaign, factories.annotator(campaign), 4)
    factories.examine(campaign)
    found = audits_of(campaign)[0]
    assert (found["labels"], found["changed_since"], found["new_since"]) == (
        ITEMS,
        0,
        0,
    )  # another vote, the same label
    factories.import_rows(campaign, factories.pairs(3, prefix="8"))
    factories.launch(campaign)
    person = factories.annotator(campaign)
    for _ in range(3):
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert audits_of(campaign)[0]["new_since"] == 3
    release = release_freeze(
        campaign=campaign,
        now=timezone.now(),
        family="antique",
        ways=1,
        splits=[],
        seed=0,
        shards=1,
        actor_id=boss.surrogate_id,
    )
    found = release.frozen["label_error"]
    assert (found["labels"], found["released"], found["beyond"]) == (ITEMS, ITEMS + 3, 3)


def test_labels_of_votes_that_differ_are_more_doubtful():
    campaign = factories.antique(items=6, n=3)
    people = [factories.annotator(campaign) for _ in range(3)]
    odd = None
    for person in people:
        for _ in range(6):
            assignment = factories.claim(campaign, person)
            odd = odd or assignment.item_id
            factories.submit(factories.label(assignment, 3 if assignment.item_id == odd and person is people[2] else 4))
    factories.examine(campaign)
    doubts = {label.item: label.doubt for label in labels_of(campaign)}
    assert max(doubts, key=doubts.get) == odd
    assert not any(label.by_expert for label in labels_of(campaign))
