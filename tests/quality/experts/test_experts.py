"""Experts judge alone, then discuss; their samples and their agreement have stated numbers."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.selectors import case_next
from quality.experts.services.cases import CaseError, case_ask, case_recall
from quality.experts.services.opinions import (
    case_discuss,
    consensus_confirm,
    consensus_propose,
    discussion_decide,
    opinion_give,
)
from quality.models import Case, CaseReason, CaseState, Inspection, Opinion, Phase, QualitySnapshot
from quality.policies.policy import Policy
from tests import factories
from tests.quality.worlds import expert_of, in_discussion, nq, three_answers

pytestmark = pytest.mark.django_db


def test_experts_judge_alone_and_nobody_sees_an_opinion_before_all_are_there(client):
    campaign = nq(n=3, items=1)
    item, boss = three_answers(campaign), factories.user(is_admin=True)
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=timezone.now())
    case = Case.objects.get()
    assert [part["key"] for part in case.parts] == ["passage-0", "short-0-yes", "passage-1"]
    first, second, third = (expert_of(campaign) for _ in range(3))
    desk, page = reverse("quality-cases", args=[campaign.slug]), reverse("quality-case", args=[campaign.slug, case.pk])
    sent = {"case": case.pk, "passage-0": "correct", "short-0-yes": "wrong", "passage-1": "debatable"}
    clients = [Client(), Client(), Client(), Client()]
    for one, person in zip(clients, (first, second, third, boss), strict=True):
        one.force_login(person)
    page_of_case = clients[0].get(desk).content.decode()
    assert page_of_case.count("In the passage “The harbour of Lund was built in 1871 by Agnes Tolliver") == 1
    assert "Judge every part" in clients[0].post(desk, {**sent, "passage-1": ""}, follow=True).content.decode()
    clients[1].post(desk, {**sent, "passage-0": "wrong", "justification": "SECOND-REASON"})
    # Nobody sees it: neither who judges still, nor who judged, nor a stranger to the case, nor an administrator.
    secret = {"campaign": f"/campaigns/{campaign.slug}/", "items": f"/campaigns/{campaign.slug}/items/"}
    for one in clients:
        assert one.get(page).status_code == 404
        for path in (
            desk,
            reverse("quality-experts", args=[campaign.slug]),
            reverse("item", args=[campaign.slug, item.pk]),
            *secret.values(),
            reverse("quality-decisions", args=[campaign.slug]),
        ):
            assert "SECOND-REASON" not in one.get(path, follow=True).content.decode(), path
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert QualitySnapshot.objects.get().data["experts"]["agreement"] == []
    clients[0].post(desk, sent)
    case.refresh_from_db()
    assert case.state == CaseState.CONSENSUS
    assert "SECOND-REASON" in clients[0].get(page).content.decode()
    assert [one.get(page).status_code for one in clients] == [200, 200, 404, 404]
    assert case_next(campaign=campaign, surrogate_id=third.surrogate_id) is None


def test_they_talk_and_one_proposes_a_consensus_that_another_confirms(client):
    campaign = nq(n=3, items=1)
    case, (first, second, third) = in_discussion(campaign)
    now = timezone.now()
    case_discuss(case=case, surrogate_id=first.surrogate_id, text="Look at the year.", now=now)
    with pytest.raises(CaseError, match="Only experts who judged"):
        case_discuss(case=case, surrogate_id=third.surrogate_id, text="And I?", now=now)
    grades = dict.fromkeys((part["key"] for part in case.parts), "debatable")
    with pytest.raises(CaseError, match="Give a reason"):
        consensus_propose(case=case, surrogate_id=first.surrogate_id, said=grades, justification=" ", now=now)
    client.force_login(second)
    page = reverse("quality-case", args=[campaign.slug, case.pk])
    assert "Look at the year." in client.get(page).content.decode()
    client.post(page, {"what": "consensus", **grades, "justification": "A reasonable doubt stays."})
    case.refresh_from_db()
    assert case.state == CaseState.CONSENSUS
    proposal = Opinion.objects.get(phase=Phase.PROPOSED)
    with pytest.raises(CaseError, match="Another expert has to confirm"):
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=second.surrogate_id, now=now)
    with pytest.raises(CaseError, match="Only experts who judged"):
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=third.surrogate_id, now=now)
    client.post(page, {"what": "consensus", **grades, "justification": "The year is right."})  # a second thought
    with pytest.raises(CaseError, match="changed in the meantime"):
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=first.surrogate_id, now=now)
    newest = Opinion.objects.filter(phase=Phase.PROPOSED).latest("pk")
    other = Client()
    other.force_login(first)
    shown = other.get(page).content.decode()
    assert "The year is right." in shown
    assert "A reasonable doubt stays." not in shown
    other.post(page, {"what": "confirm", "proposal": newest.pk})
    case.refresh_from_db()
    assert case.state == CaseState.DECIDED
    agreed = Opinion.objects.get(phase=Phase.CONSENSUS)
    assert (agreed.surrogate_id, agreed.confirmed_by_id) == (second.surrogate_id, first.surrogate_id)
    assert (agreed.justification, agreed.by_manager) == ("The year is right.", False)
    assert "The year is right." in client.get(page).content.decode()
    with pytest.raises(CaseError, match="isn't under discussion"):
        case_discuss(case=case, surrogate_id=first.surrogate_id, text="Too late", now=now)
    assert Opinion.objects.filter(phase=Phase.BLIND).count() == 2


def test_a_manager_decides_what_experts_do_not_agree_on_in_a_week(client):
    campaign = nq(n=3, items=1)
    case, (first, *_) = in_discussion(campaign)
    boss = factories.user()
    factories.join(campaign, boss, Role.MANAGER)
    client.force_login(boss)
    queue = reverse("quality-decisions", args=[campaign.slug])
    decide = reverse("quality-decide", args=[campaign.slug, "discussion", case.pk])
    grades = dict.fromkeys((part["key"] for part in case.parts), "debatable")
    assert "Nothing to review" in client.get(queue).content.decode()
    sent = {**grades, "reason": "The page is ambiguous."}
    assert "for 7 days without agreeing" in client.post(decide, sent, follow=True).content.decode()
    Opinion.objects.update(at=timezone.now() - timedelta(days=8))
    Opinion.objects.filter(surrogate_id=first.surrogate_id).update(justification="It names the bridge.")
    shown = client.get(queue).content.decode()
    assert "It names the bridge." in shown
    assert decide in shown
    assert "Give a reason" in client.post(decide, grades, follow=True).content.decode()
    assert "Judge every part" in client.post(decide, {"reason": "So."}, follow=True).content.decode()
    client.post(decide, sent)
    case.refresh_from_db()
    assert case.state == CaseState.DECIDED
    decided = Opinion.objects.get(phase=Phase.CONSENSUS)
    assert (decided.surrogate_id, decided.by_manager, decided.said) == (boss.surrogate_id, True, grades)
    assert "Nothing to review" in client.get(queue).content.decode()
    client.force_login(first)
    page = client.get(reverse("quality-case", args=[campaign.slug, case.pk])).content.decode()
    assert "A manager decided because" in page


def test_no_manager_decides_an_audit_or_what_they_annotated():
    campaign = nq(n=3, items=1)
    case, _experts = in_discussion(campaign)
    Opinion.objects.update(at=timezone.now() - timedelta(days=8))
    decide = {
        "case": case,
        "said": dict.fromkeys((part["key"] for part in case.parts), "debatable"),
        "justification": "So.",
        "now": timezone.now(),
    }
    author = Annotation.objects.order_by("pk").first().surrogate_id
    with pytest.raises(CaseError, match="you annotated it"):
        discussion_decide(actor_id=author, **decide)
    Case.objects.update(because=CaseReason.AUDIT)
    with pytest.raises(CaseError, match="only after"):
        discussion_decide(actor_id=factories.user().surrogate_id, **decide)


def test_who_annotated_an_item_never_judges_it_and_one_case_at_a_time():
    campaign = nq(n=3, items=1)
    item = three_answers(campaign)
    author = Annotation.objects.order_by("pk").first().surrogate_id
    assert case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=author, now=timezone.now())
    assert not case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=author, now=timezone.now())
    case = Case.objects.get()
    assert case_next(campaign=campaign, surrogate_id=author) is None
    grades = dict.fromkeys((part["key"] for part in case.parts), "correct")
    with pytest.raises(CaseError, match="you annotated it"):
        opinion_give(case=case, surrogate_id=author, said=grades, justification="", now=timezone.now())
    empty = factories.campaign(items=1).items.get()
    with pytest.raises(CaseError, match="doesn't have any answers for experts"):
        case_ask(item=empty, because=CaseReason.MANAGER, experts=1, actor_id=author, now=timezone.now())


def test_a_sample_is_drawn_by_seed_and_its_shares_have_intervals(client):
    campaign = nq(n=1, items=6)
    for number in range(6):  # two of six say that there is no answer: nothing to judge
        factories.annotate(
            campaign, factories.annotator(campaign), label="good", box=-1 if number % 3 == 0 else 0, kind="yes"
        )
    boss, expert = factories.user(is_admin=True), expert_of(campaign)
    client.force_login(boss)
    url = reverse("quality-experts", args=[campaign.slug])
    client.post(url, {"count": "3", "seed": "5", "experts": "1", "least": "1"})
    factories.run_jobs()
    assert Case.objects.filter(because=CaseReason.SAMPLE).count() == 3
    client.post(url, {"count": "9", "seed": "5", "experts": "1", "least": "1"})
    factories.run_jobs()
    assert Case.objects.count() == 4  # those that say something, none of them twice
    for number, case in enumerate(Case.objects.order_by("pk")):
        grade = "wrong" if number == 0 else "correct"
        grades = {"passage-0": grade, "short-0-yes": "debatable"}
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=grades, justification="", now=timezone.now())
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    found = {row["what"]: row for row in QualitySnapshot.objects.get().data["experts"]["sample"]}
    shares = {one["grade"]: (one["count"], one["share"]) for one in found["passage"]["grades"]}
    assert shares == {"correct": (3, 0.75), "debatable": (0, 0), "wrong": (1, 0.25)}
    assert found["short"]["n"] == 4
    right = found["passage"]["grades"][0]
    assert 0.3 < right["low"] < 0.31  # Wilson, 3 of 4
    assert "75%" in client.get(url).content.decode()


def test_a_case_that_was_recalled_is_in_no_number():
    campaign = factories.antique(items=1, n=3, policy=Policy(experts=3, gold_first=0))
    for labels in ((4, 3, 2), (1, 2, 3)):
        for label in labels:
            factories.vote(campaign, factories.annotator(campaign), label)
        factories.examine(campaign)
    case, boss = Case.objects.get(), factories.user()
    for label in (4, 1):
        opinion_give(
            case=case,
            surrogate_id=expert_of(campaign).surrogate_id,
            said={"label": label},
            justification="",
            now=timezone.now(),
        )
    row = Annotation.objects.first()
    annotation_exclude(annotation=row, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    case.refresh_from_db()
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert case.state == CaseState.RECALLED
    assert QualitySnapshot.objects.get().data["experts"]["agreement"] == []


def test_inspections_show_what_was_answered_and_can_ask_the_experts(client):
    campaign = nq(n=1, items=1)
    factories.annotate(campaign, factories.annotator(campaign), label="good", box=1, kind="no")
    factories.examine(campaign)
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-inspect", args=[campaign.slug])
    body = client.get(url).content.decode()
    assert "two piers" in body
    inspection = Inspection.objects.get()
    client.post(url, {"inspection": inspection.pk, "verdict": "debatable", "ask": "1"})
    assert Case.objects.get().because == CaseReason.INSPECTION


def test_agreement_is_computed_of_each_thing_that_the_task_type_measures():
    campaign = nq(n=2, items=4)
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    for _ in range(4):
        factories.annotate(campaign, first, label="good", box=0, kind="yes")
    for box in (0, 0, 1, -1):
        factories.annotate(campaign, second, label="good", box=box, kind="yes")
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    found = {row["key"]: row["counted"] for row in QualitySnapshot.objects.get().data["agreement"]}
    assert list(found) == ["answered", "question", "long_answer", "short_answer"]
    # Eight judgments, one "no answer": observed disagreement 1/4, by chance 2 * 7 * 1 / (8 * 7).
    assert found["answered"]["alpha"] == pytest.approx(1 - (2 / 8) / (2 * 7 / 56))
    assert found["question"]["why"] == "all labels are the same"
    assert (found["long_answer"]["units"], found["long_answer"]["observed"]) == (3, pytest.approx(1 / 3))
    assert found["short_answer"]["observed"] == 0


def test_no_page_tells_an_expert_which_case_is_a_gold_key(client):
    """The list of items leaves gold out: what it does not find would be a key."""
    campaign = nq(n=1, items=1, keys=1, experts=1)
    item = factories.annotate(campaign, factories.annotator(campaign), label="good", box=0).item
    case_ask(
        item=item, because=CaseReason.MANAGER, experts=1, actor_id=factories.user().surrogate_id, now=timezone.now()
    )
    client.force_login(expert_of(campaign))
    assert Case.objects.count() == 2
    items = reverse("items", args=[campaign.slug])
    assert client.get(items, {"q": "gold question"}).status_code == 404
    for case in Case.objects.order_by("pk"):
        page = client.get(reverse("quality-cases", args=[campaign.slug])).content.decode()
        assert case.item.content["question_text"] in page
        assert items not in page
        grades = dict.fromkeys((part["key"] for part in case.parts), "correct")
        client.post(reverse("quality-cases", args=[campaign.slug]), {"case": case.pk, **grades})
    assert items not in client.get(reverse("campaign", args=[campaign.slug])).content.decode()


def manager_of(client):
    boss = factories.user(is_admin=True)
    client.force_login(boss)
    return boss


def test_a_sample_asks_no_more_experts_than_there_are(client):
    campaign = nq(n=3, items=1)
    three_answers(campaign)
    manager_of(client)
    expert_of(campaign)
    address = reverse("quality-experts", args=[campaign.slug])
    sent = {"experts": 2, "count": 1, "least": 1, "seed": 0}
    page = client.post(address, sent)
    [said] = page.context["form"].errors["experts"]
    assert said == "This campaign has 1 expert. Invite more experts, or enter a smaller number."
    assert client.post(address, sent | {"experts": 1}).status_code == 302
    factories.run_jobs()
    assert Case.objects.get().experts == 1


def test_a_manager_recalls_what_was_asked_for_and_nothing_else(client):
    campaign = nq(n=3, items=1)
    item, boss = three_answers(campaign), manager_of(client)
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=timezone.now())
    case, expert = Case.objects.get(), expert_of(campaign)
    said = {part["key"]: "correct" for part in case.parts}
    opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="", now=timezone.now())
    address = reverse("quality-experts", args=[campaign.slug])
    page = client.get(address).content.decode()
    assert "1 of 2" in page and "Recall" in page
    client.post(address, {"recall": case.pk})
    case.refresh_from_db()
    assert (case.state, case.opinions.count()) == (CaseState.RECALLED, 1)
    again = client.post(address, {"recall": case.pk}, follow=True).content.decode()
    assert "can&#x27;t be recalled" in again
    case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    audit = Case.objects.exclude(pk=case.pk).get()
    Case.objects.filter(pk=audit.pk).update(because=CaseReason.AUDIT)
    audit.refresh_from_db()
    with pytest.raises(CaseError, match="recalled"):
        case_recall(case=audit, actor_id=boss.surrogate_id, now=timezone.now())
