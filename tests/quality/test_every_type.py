"""Gold, experts and appeals where answers are no labels: Natural Questions, whose task type says what each of them means."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation, AnnotationState, Injection, Standing
from annotation.services.exclusions import annotation_exclude
from annotation.tasktypes.base import RowError
from annotation.tasktypes.nq import judging
from documents.selectors import tokenization_of
from quality.models import (
    Case,
    CaseReason,
    CaseState,
    GoldCheck,
    GoldKey,
    GoldKeyState,
    Inspection,
    Opinion,
    Phase,
    QualitySnapshot,
    Review,
)
from quality.rules.policy import Policy
from quality.selectors.experts import case_next
from quality.services.cases import CaseError, case_ask
from quality.services.gold import GoldRefused, gold_import
from quality.services.gold_keys import KeyRefused, gold_key_ask, gold_key_edit, gold_key_retire
from quality.services.numbers import quality_numbers_refresh
from quality.services.opinions import case_discuss, consensus_reach, opinion_give
from quality.services.people import ReviewError, review_decide
from quality.services.policies import policy_publish
from quality.services.suspensions import suspension_appeal, suspension_appeal_decide, suspension_lift
from tests import factories

pytestmark = pytest.mark.django_db
FIRST = Policy(gold_first=3, gold_first_items=3, inspection_rate=1.0)  # whoever comes meets three keys first


def rows(accepted, count=1, start=0):
    return [
        (number + 1, {"id": f"gold{start + number}", "question": f"gold question {start + number}?",
                      "document": "harbour.html", "accepted": accepted})
        for number in range(count)
    ]  # fmt: skip


def nq(*, n=2, items=3, keys=0, accepted=None, **options):
    """Return an open campaign of questions with keys that accept the first box."""
    made = factories.campaign(n=n)
    policy_publish(campaign=made, policy=FIRST, actor_id=None, now=timezone.now())
    if keys:
        wanted = accepted or [{"long_answer": 0}]
        gold_import(campaign=made, rows=rows(wanted, keys), actor_id=None, now=timezone.now(), **options)
    factories.import_questions(made, [f"question {index} about the harbour" for index in range(items)])
    factories.launch(made)
    return made


@pytest.fixture
def page():
    campaign = factories.campaign(items=1)
    return tokenization_of(campaign.items.get().tokenization)


def said(label="good", box=-1, kind="none", spans=()):
    return {
        "question": {"first": label, "label": label, "reason": ""},
        "long_answer": {"candidate_index": box, "reason": ""},
        "short_answer": {"kind": kind, "spans": [list(span) for span in spans]},
    }


def words(page, box):
    start, end = page.candidates[box].start_token, page.candidates[box].end_token
    return [number for number in range(start, end) if not page.tokens[number].html_token]


def test_a_key_says_at_which_stage_an_answer_misses_it(page):
    first, second, third = words(page, 0)[:3]
    key = judging.accepted_from(
        {"accepted": [{"long_answer": [0, 1]}, {"long_answer": 2, "short_answer": "none"}]}, page
    )
    assert judging.missed(key, said("bad")) == "question"
    assert judging.missed(key, said(box=-1)) == "long_answer"
    assert judging.missed(key, said(box=3)) == "long_answer"
    assert judging.missed(key, said(box=1, kind="spans", spans=[(5, 6)])) == ""
    assert judging.missed(key, said(box=2, kind="yes")) == "short_answer"
    spans = judging.accepted_from({"accepted": [{"long_answer": 0, "short_answer": [[first, third]]}]}, page)
    assert judging.missed(spans, said(box=0, kind="spans", spans=[(second, second + 1)])) == ""  # inside is near enough
    assert judging.missed(spans, said(box=0, kind="spans", spans=[(third, third + 1)])) == "short_answer"
    both = [(first, second), (third, third + 1)]
    assert judging.missed(spans, said(box=0, kind="spans", spans=both)) == "short_answer"  # one span touches nothing
    nothing = judging.accepted_from({"accepted": '[{"question": "bad"}, {"long_answer": -1}]'}, page)
    assert [judging.missed(nothing, said("bad")), judging.missed(nothing, said(box=-1))] == ["", ""]
    assert judging.missed(nothing, said(box=0)) == "long_answer"


@pytest.mark.parametrize(
    ("accepted", "error"),
    [
        (None, "a list of 1 to"),
        ("[", "no JSON"),
        ([{"long_answer": 99}], "no box 99"),
        ([{"long_answer": True}], "the number of a box"),
        ([{"question": "bad", "long_answer": 0}], "a bad question has no answer"),
        ([{"long_answer": -1, "short_answer": "yes"}], "needs a long answer"),
        ([{"long_answer": 0, "short_answer": "perhaps"}], "yes, no, none or a list"),
        ([{"long_answer": 0, "short_answer": [[0, 1]]}], "in box 0"),
        ([{"long_answer": 0, "spans": []}], "and nothing else"),
    ],
)
def test_a_wrong_key_is_refused_with_what_is_wrong(page, accepted, error):
    with pytest.raises(RowError, match=error):
        judging.accepted_from({"accepted": accepted}, page)


def test_keys_come_in_all_or_none_and_name_the_row():
    campaign = nq()
    bad = [*rows([{"long_answer": 0}], 2), (3, {**rows([{"long_answer": 7}])[0][1], "id": "g9", "question": "what?"})]
    with pytest.raises(GoldRefused, match="row 3, accepted: there is no box 7 on this page of 5"):
        gold_import(campaign=campaign, rows=bad, actor_id=None, now=timezone.now())
    unknown = [(1, {**rows([])[0][1], "document": "nowhere.html"})]
    with pytest.raises(GoldRefused, match="row 1, document: no document is called"):
        gold_import(campaign=campaign, rows=unknown, actor_id=None, now=timezone.now())
    assert not GoldKey.objects.exists()
    assert gold_import(campaign=campaign, rows=bad[:2], actor_id=None, now=timezone.now()) == 2
    assert gold_import(campaign=campaign, rows=bad[:2], actor_id=None, now=timezone.now()) == 0  # once more


def careless(campaign, count=3, **chosen):
    person = factories.annotator(campaign)
    for _ in range(count):
        factories.annotate(campaign, person, **{"label": "good", "box": 3, **chosen})
    factories.examine(campaign)
    return person


def test_who_misses_keys_is_paused_and_suspended_and_whose_appeal_is_granted_counts_again():
    campaign = nq(keys=5, n=1)
    person = careless(campaign)
    assert list(GoldCheck.objects.values_list("is_hit", "missed_at")) == [(False, "long_answer")] * 3
    place = campaign.participations.get(surrogate_id=person.surrogate_id)
    assert place.standing == Standing.PAUSED
    work = campaign.items.filter(batch__purpose="work").first()
    boss, now = factories.user(), timezone.now()
    # Something of theirs counts, and goes out of what counts with the suspension.
    review = review_decide(
        review=Review.objects.get(), suspend=False, reason="", refuse_pay=False, actor_id=boss.surrogate_id, now=now
    )
    annotation = factories.annotate(campaign, person, label="bad")
    assert annotation.item.batch_id == work.batch_id
    second = Review.objects.create(
        campaign=campaign, surrogate_id=person.surrogate_id, opened_at=now, decide_by=now, evidence={}
    )
    review_decide(
        review=second, suspend=True, reason="Too many.", refuse_pay=False, actor_id=boss.surrogate_id, now=now
    )
    factories.run_jobs()
    annotation.refresh_from_db()
    assert (review.state, annotation.state) == ("reinstated", AnnotationState.EXCLUDED)
    with pytest.raises(ReviewError, match="in a few words"):
        suspension_appeal(campaign=campaign, surrogate_id=person.surrogate_id, text=" ", now=now)
    appealed = suspension_appeal(
        campaign=campaign, surrogate_id=person.surrogate_id, text="The boxes overlap.", now=timezone.now()
    )
    again = suspension_appeal(campaign=campaign, surrogate_id=person.surrogate_id, text="More", now=timezone.now())
    assert (appealed.pk, again.appeal) == (second.pk, "The boxes overlap.")
    suspension_appeal_decide(review=again, lift=True, answer="You are right.", actor_id=boss.surrogate_id, now=now)
    factories.run_jobs()
    annotation.refresh_from_db()
    place.refresh_from_db()
    assert (place.standing, annotation.state) == (Standing.ACTIVE, AnnotationState.COUNTED)
    with pytest.raises(ReviewError, match="already"):
        suspension_appeal_decide(review=again, lift=False, answer="No.", actor_id=boss.surrogate_id, now=now)


def test_an_upheld_suspension_is_answered_and_nobody_else_can_appeal(client):
    campaign = nq(keys=5)
    person, boss = careless(campaign), factories.user()
    review = review_decide(
        review=Review.objects.get(), suspend=True, reason="Three of three.", refuse_pay=False,
        actor_id=boss.surrogate_id, now=timezone.now(),
    )  # fmt: skip
    client.force_login(person)
    url = reverse("quality-standing", args=[campaign.slug])
    assert "Three of three." in client.get(url).content.decode()
    assert url in client.post(reverse("work", args=[campaign.slug]), follow=True).content.decode()
    client.post(url, {"text": "I was tired."})
    factories.join(campaign, boss, Role.MANAGER)
    manager = Client()
    manager.force_login(boss)
    assert "I was tired." in manager.get(reverse("quality-decisions", args=[campaign.slug])).content.decode()
    decide = reverse("quality-decide", args=[campaign.slug, "suspension", review.pk])
    assert "say why" in manager.post(decide, {"choice": "uphold"}, follow=True).content.decode()
    manager.post(decide, {"choice": "uphold", "reason": "Rest first, then read."})
    assert "Rest first, then read." in client.get(url).content.decode()
    other = factories.annotator(campaign)
    with pytest.raises(ReviewError, match="not suspended"):
        suspension_appeal(campaign=campaign, surrogate_id=other.surrogate_id, text="Me too.", now=timezone.now())


def test_who_comes_back_does_not_begin_with_a_new_error_budget():
    test = FIRST.gold_test
    misses = [False] * 3
    assert test.assess(misses).finding.value == "failed"
    assert test.assess(misses, spent=1).limit > test.assess(misses).limit
    campaign = nq(keys=30, items=1)
    person, boss = careless(campaign), factories.user()
    spans = []
    for _ in range(2):
        review = Review.objects.get(state="open")
        spans.append(review.evidence["limit"])
        review_decide(
            review=review, suspend=False, reason="Once more.", refuse_pay=False, actor_id=boss.surrogate_id,
            now=timezone.now(),
        )  # fmt: skip
        for key in GoldKey.objects.filter(exposures=0)[:4]:
            _check(campaign, person, key)
    assert spans == sorted(set(spans))  # each test is stricter than the one before


def _check(campaign, person, key):
    """Let a person miss a key."""
    from django.db import transaction

    from annotation.models import Injection, Slot
    from quality.services.people import person_assess

    slot = Slot.objects.create(campaign=campaign, item=key.item, round=1, index=90, order_key=0, state="aside")
    place = campaign.participations.get(surrogate_id=person.surrogate_id)
    Injection.objects.create(campaign=campaign, surrogate_id=person.surrogate_id, slot=slot, position=place.served)
    GoldKey.objects.filter(pk=key.pk).update(exposures=1)
    if place.standing in (Standing.PAUSED, Standing.SUSPENDED):
        return
    factories.annotate(campaign, person, label="good", box=3)
    factories.examine(campaign)
    with transaction.atomic():
        person_assess(campaign=campaign, policy=FIRST, surrogate_id=person.surrogate_id, now=timezone.now())


def test_a_key_that_was_wrong_is_held_against_nobody():
    campaign = nq(keys=5)
    boss = factories.user()
    person = factories.annotator(campaign)
    factories.annotate(campaign, person, label="good", box=3)
    factories.examine(campaign)
    key = GoldCheck.objects.get().key
    changed = gold_key_edit(key=key, accepted=[{"long_answer": [0, 3]}], actor_id=boss.surrogate_id, now=timezone.now())
    assert (changed, GoldCheck.objects.get().is_hit) == (1, True)
    gold_key_edit(key=key, accepted=[{"question": "bad"}], actor_id=boss.surrogate_id, now=timezone.now())
    assert GoldCheck.objects.get().missed_at == "question"
    void = gold_key_retire(
        key=key, reason="Nobody agrees.", is_wrong=True, actor_id=boss.surrogate_id, now=timezone.now()
    )
    key.refresh_from_db()
    key.item.refresh_from_db()
    assert (void, key.state, key.item.state) == (1, GoldKeyState.RETIRED, "retired")
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert QualitySnapshot.objects.get().data["summary"]["gold_checks"] == 0


def test_a_key_waits_for_experts_who_do_not_know_what_it_accepts(client):
    campaign = nq(keys=2, accepted=[{"long_answer": 0, "short_answer": "yes"}, {"long_answer": -1}], experts=1)
    assert set(GoldKey.objects.values_list("state", flat=True)) == {GoldKeyState.WAITING}
    careless(campaign)
    assert not GoldCheck.objects.exists()  # nobody is checked with them
    expert = factories.user()
    factories.join(campaign, expert, Role.EXPERT)
    client.force_login(expert)
    body = client.get(reverse("quality-cases", args=[campaign.slug])).content.decode()
    assert "gold question" in body
    assert not any(word in body for word in ("Gold key", "accepted", "gold_key"))
    first, second = Case.objects.order_by("pk")
    keys = [part["key"] for part in first.parts]
    assert keys == ["passage-0", "short-0-yes", "none"]
    url = reverse("quality-cases", args=[campaign.slug])
    client.post(url, {"case": first.pk, **dict.fromkeys(keys, "correct")})
    client.post(url, {"case": second.pk, **dict.fromkeys(keys, "correct"), "none": "debatable"})
    states = {key.item_id: (key.state, key.confirmed_at is not None) for key in GoldKey.objects.all()}
    assert states[first.item_id] == (GoldKeyState.ACTIVE, True)
    assert states[second.item_id] == (GoldKeyState.WAITING, False)


def three_answers(campaign):
    """Return an item with three answers: two boxes, one of them with a short answer, and none."""
    for box, kind in ((0, "yes"), (1, "none"), (-1, "none")):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=box, kind=kind)
    return campaign.items.filter(batch__purpose="work").first()


def expert_of(campaign):
    person = factories.user()
    factories.join(campaign, person, Role.EXPERT)
    return person


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
    assert "judge every part" in clients[0].post(desk, {**sent, "passage-1": ""}, follow=True).content.decode()
    clients[1].post(desk, {**sent, "passage-0": "wrong", "justification": "SECOND-REASON"})
    # Nobody sees it: neither who judges still, nor who judged, nor a stranger to the case, nor an administrator.
    secret = {"campaign": f"/campaigns/{campaign.slug}/", "items": f"/campaigns/{campaign.slug}/items/"}
    for one in clients:
        assert one.get(page).status_code == 404
        for path in (desk, reverse("quality-experts", args=[campaign.slug]), reverse("item", args=[campaign.slug, item.pk]),
                     *secret.values(), reverse("quality-decisions", args=[campaign.slug])):  # fmt: skip
            assert "SECOND-REASON" not in one.get(path, follow=True).content.decode(), path
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert QualitySnapshot.objects.get().data["experts"]["agreement"] == []
    clients[0].post(desk, sent)
    case.refresh_from_db()
    assert case.state == CaseState.CONSENSUS
    assert "SECOND-REASON" in clients[0].get(page).content.decode()
    assert [one.get(page).status_code for one in clients] == [200, 200, 404, 404]
    assert case_next(campaign=campaign, surrogate_id=third.surrogate_id) is None


def test_they_talk_and_one_of_them_writes_the_consensus_down_with_its_reason(client):
    campaign = nq(n=3, items=1)
    case, (first, second, third) = in_discussion(campaign)
    now = timezone.now()
    case_discuss(case=case, surrogate_id=first.surrogate_id, text="Look at the year.", now=now)
    with pytest.raises(CaseError, match="did not judge"):
        case_discuss(case=case, surrogate_id=third.surrogate_id, text="And I?", now=now)
    grades = dict.fromkeys((part["key"] for part in case.parts), "debatable")
    with pytest.raises(CaseError, match="say why"):
        consensus_reach(case=case, surrogate_id=first.surrogate_id, said=grades, justification=" ", now=now)
    client.force_login(second)
    page = reverse("quality-case", args=[campaign.slug, case.pk])
    assert "Look at the year." in client.get(page).content.decode()
    client.post(page, {"what": "consensus", **grades, "justification": "A reasonable doubt stays."})
    case.refresh_from_db()
    assert case.state == CaseState.DECIDED
    assert "A reasonable doubt stays." in client.get(page).content.decode()
    with pytest.raises(CaseError, match="not in discussion"):
        case_discuss(case=case, surrogate_id=first.surrogate_id, text="Too late", now=now)
    assert Opinion.objects.filter(phase=Phase.BLIND).count() == 2


def in_discussion(campaign):
    item = three_answers(campaign)
    experts = [expert_of(campaign) for _ in range(3)]
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=experts[0].surrogate_id, now=timezone.now())
    case = Case.objects.get()
    for expert, grade in zip(experts, ("correct", "wrong"), strict=False):
        grades = dict.fromkeys((part["key"] for part in case.parts), grade)
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=grades, justification="", now=timezone.now())
    return case, experts


def test_who_annotated_an_item_never_judges_it_and_one_case_at_a_time():
    campaign = nq(n=3, items=1)
    item = three_answers(campaign)
    author = Annotation.objects.order_by("pk").first().surrogate_id
    assert case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=author, now=timezone.now())
    assert not case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=author, now=timezone.now())
    case = Case.objects.get()
    assert case_next(campaign=campaign, surrogate_id=author) is None
    grades = dict.fromkeys((part["key"] for part in case.parts), "correct")
    with pytest.raises(CaseError, match="yourself"):
        opinion_give(case=case, surrogate_id=author, said=grades, justification="", now=timezone.now())
    empty = factories.campaign(items=1).items.get()
    with pytest.raises(CaseError, match="no answer to this item"):
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
    client.post(url, {"count": "3", "seed": "5", "experts": "1"})
    factories.run_jobs()
    assert Case.objects.filter(because=CaseReason.SAMPLE).count() == 3
    client.post(url, {"count": "9", "seed": "5", "experts": "1"})
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
    assert "75 %" in client.get(url).content.decode()


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


def test_keys_are_imported_corrected_and_retired_in_the_browser(client):
    campaign = nq()
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-gold", args=[campaign.slug])
    lines = "".join(json.dumps(row) + "\n" for _, row in rows([{"long_answer": 0}], 2))
    client.post(url, {"file": SimpleUploadedFile("gold.jsonl", lines.encode()), "experts": "0"})
    factories.run_jobs()
    assert GoldKey.objects.filter(state=GoldKeyState.ACTIVE).count() == 2
    assert "gold0" in client.get(url).content.decode()
    key = GoldKey.objects.first()
    page = reverse("quality-gold-key", args=[campaign.slug, key.pk])
    assert (
        "no box 44"
        in client.post(page, {"what": "edit", "accepted": '[{"long_answer": 44}]'}, follow=True).content.decode()
    )
    assert "no JSON" in client.post(page, {"what": "edit", "accepted": "{"}, follow=True).content.decode()
    client.post(page, {"what": "edit", "accepted": '[{"long_answer": 1}]'})
    key.refresh_from_db()
    assert key.accepted == [{"long_answer": [1]}]
    client.post(page, {"what": "ask", "experts": "2"})
    key.refresh_from_db()
    assert (key.state, Case.objects.get().experts) == (GoldKeyState.WAITING, 2)
    assert "Say why" in client.post(page, {"what": "retire"}, follow=True).content.decode()
    client.post(page, {"what": "retire", "reason": "Ambiguous.", "wrong": "1"})
    key.refresh_from_db()
    assert (key.state, Case.objects.get().state) == (GoldKeyState.RETIRED, CaseState.RECALLED)
    assert "Ambiguous." in client.get(page).content.decode()


def test_a_key_that_is_out_of_use_tests_nobody_whatever_was_planned_or_answered(client):
    campaign = nq(keys=9, n=1, items=40)
    person, boss = factories.annotator(campaign), factories.user()
    factories.annotate(campaign, person, label="good", box=3)  # not examined yet
    answered = Annotation.objects.get()
    planned = Injection.objects.filter(surrogate_id=person.surrogate_id).exclude(slot__item=answered.item)
    assert planned.count() >= 2
    for key in GoldKey.objects.filter(item__in=planned.values("slot__item")):
        assert gold_key_ask(key=key, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    gold_key_retire(
        key=answered.item.gold_key, reason="Wrong.", is_wrong=True, actor_id=boss.surrogate_id, now=timezone.now()
    )
    asked = set(GoldKey.objects.filter(state=GoldKeyState.WAITING).values_list("item", flat=True))
    for _ in range(30):
        annotation = factories.annotate(campaign, person, label="good", box=0)
        assert annotation.item_id not in asked
    factories.examine(campaign)
    assert not GoldCheck.objects.filter(is_hit=False).exists()
    assert GoldCheck.objects.count() >= 2  # others took their place
    retired = GoldKey.objects.get(state=GoldKeyState.RETIRED)
    with pytest.raises(KeyRefused, match="is retired"):
        gold_key_edit(key=retired, accepted=[{"long_answer": 1}], actor_id=boss.surrogate_id, now=timezone.now())
    with pytest.raises(KeyRefused, match="is retired"):
        gold_key_ask(key=retired, experts=1, actor_id=boss.surrogate_id, now=timezone.now())


def test_experts_confirm_what_a_key_says_now_and_all_of_it():
    campaign = nq(keys=1, accepted=[{"long_answer": 0, "short_answer": "none"}], experts=1)
    case, key, boss = Case.objects.get(), GoldKey.objects.get(), factories.user()
    assert [part["key"] for part in case.parts] == ["passage-0", "short-0-none"]
    gold_key_edit(key=key, accepted=[{"long_answer": 3}], actor_id=boss.surrogate_id, now=timezone.now())
    case.refresh_from_db()
    assert case.state == CaseState.RECALLED
    grades = dict.fromkeys((part["key"] for part in case.parts), "correct")
    with pytest.raises(CaseError, match="recalled"):
        opinion_give(
            case=case, surrogate_id=expert_of(campaign).surrogate_id, said=grades, justification="", now=timezone.now()
        )
    assert GoldKey.objects.get().state == GoldKeyState.WAITING


def test_what_a_suspension_took_out_comes_back_and_nothing_else_does():
    campaign = nq(n=1, items=4)
    person, boss, now = factories.annotator(campaign), factories.user(), timezone.now()
    for _ in range(3):
        factories.annotate(campaign, person, label="bad")
    own = Annotation.objects.order_by("pk")
    by_hand = own.first()

    def suspend():
        review = Review.objects.create(
            campaign=campaign, surrogate_id=person.surrogate_id, opened_at=now, decide_by=now, evidence={}
        )
        return review_decide(
            review=review, suspend=True, reason="Why.", refuse_pay=False, actor_id=boss.surrogate_id, now=now
        )

    def lift(review):
        suspension_lift(review=review, reason="Not so.", actor_id=boss.surrogate_id, now=timezone.now())

    first = suspend()
    factories.run_jobs()
    lift(first)
    factories.run_jobs()
    annotation_exclude(annotation=by_hand, because="manager", actor_id=boss.surrogate_id, now=now)
    lift(suspend())  # before the job that excludes has run: it finds nothing to do
    factories.run_jobs()
    assert list(own.values_list("state", flat=True)) == ["excluded", "counted", "counted"]


def test_a_case_that_was_recalled_is_in_no_number():
    campaign = factories.antique(items=1, n=3, policy=Policy(experts=3, gold_first=0))
    for labels in ((4, 3, 2), (1, 2, 3)):
        for label in labels:
            factories.vote(campaign, factories.annotator(campaign), label)
        factories.examine(campaign)
    case, boss = Case.objects.get(), factories.user()
    for label in (4, 1):
        opinion_give(
            case=case, surrogate_id=expert_of(campaign).surrogate_id, said={"label": label}, justification="",
            now=timezone.now(),
        )  # fmt: skip
    row = Annotation.objects.first()
    annotation_exclude(annotation=row, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    case.refresh_from_db()
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert case.state == CaseState.RECALLED
    assert QualitySnapshot.objects.get().data["experts"]["agreement"] == []
