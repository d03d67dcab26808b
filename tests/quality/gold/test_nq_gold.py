"""Gold keys where answers are no labels: what a key of Natural Questions accepts, and what becomes of keys."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation, Injection
from annotation.slots.services.exclusions import annotation_exclude
from annotation.tasktypes.nq import gold
from annotation.tasktypes.nq.answers import span_text
from annotation.work.services.submissions import assignment_skip
from documents.html.markup import Page
from documents.html.tokens import tokenize
from documents.selectors import tokenization_of
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.services.cases import CaseError, case_ask
from quality.experts.services.opinions import opinion_give
from quality.gold.services.key_changes import KeyRefused, gold_key_ask, gold_key_edit, gold_key_retire
from quality.gold.services.keys import GoldRefused, gold_import
from quality.models import Case, CaseState, GoldCheck, GoldKey, GoldKeyState, QualitySnapshot
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from storage.tables.faults import RowError
from tests import factories
from tests.quality.worlds import careless, expert_of, nq, rows

pytestmark = pytest.mark.django_db


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
    key = gold.accepted_from({"accepted": [{"long_answer": [0, 1]}, {"long_answer": 2, "short_answer": "none"}]}, page)
    assert gold.missed(key, said("bad")) == "question"
    assert gold.missed(key, said(box=-1)) == "long_answer"
    assert gold.missed(key, said(box=3)) == "long_answer"
    assert gold.missed(key, said(box=1, kind="spans", spans=[(5, 6)])) == ""
    assert gold.missed(key, said(box=2, kind="yes")) == "short_answer"
    spans = gold.accepted_from({"accepted": [{"long_answer": 0, "short_answer": [[first, third]]}]}, page)
    assert gold.missed(spans, said(box=0, kind="spans", spans=[(second, second + 1)])) == ""  # inside is near enough
    assert gold.missed(spans, said(box=0, kind="spans", spans=[(third, third + 1)])) == "short_answer"
    both = [(first, second), (third, third + 1)]
    assert gold.missed(spans, said(box=0, kind="spans", spans=both)) == "short_answer"  # one span touches nothing
    nothing = gold.accepted_from({"accepted": '[{"question": "bad"}, {"long_answer": -1}]'}, page)
    assert [gold.missed(nothing, said("bad")), gold.missed(nothing, said(box=-1))] == ["", ""]
    assert gold.missed(nothing, said(box=0)) == "long_answer"


QUOTED = tokenize(
    Page(
        "<p>The harbour was built in <b>1871</b>, after the fire of 1870.</p>"
        "<table><tr><td>Fire</td><td>of 1870</td></tr></table><ul><li>The mole is of stone.</li></ul>"
    )
)


def test_a_key_quotes_the_page_instead_of_counting_its_boxes_and_tokens():
    accepted = {"long_answer": "the  Harbour was", "short_answer": ["1871", "FIRE of"]}
    [found] = gold.accepted_from({"accepted": accepted}, QUOTED)
    assert [span_text(span, QUOTED) for span in found["short_answer"]] == ["1871", "fire of"]
    [box] = found["long_answer"]
    assert span_text([QUOTED.candidates[box].start_token, QUOTED.candidates[box].end_token], QUOTED).startswith(
        "The harb"
    )
    short = gold.accepted_from({"accepted": {"long_answer": [box], "short_answer": "1871"}}, QUOTED)
    assert short == [{"long_answer": [box], "short_answer": [found["short_answer"][0]]}]
    entry = gold.accepted_from({"accepted": {"long_answer": ["the mole is of stone.", 3]}}, QUOTED)
    assert entry == [{"long_answer": [3, 4]}]  # the list of that number, and in it the entry that is quoted


@pytest.mark.parametrize(
    ("accepted", "error"),
    [
        ({"long_answer": "lighthouse"}, "no box contains “lighthouse” in whole words"),
        ({"long_answer": "arbour was"}, "no box contains"),
        ({"long_answer": " "}, "no box contains"),
        ({"long_answer": "fire"}, "“fire” is in the boxes 0, 2: quote more"),
        ({"long_answer": "The harbour", "short_answer": "18"}, "box 0 doesn't contain “18”"),
        ({"long_answer": "The harbour", "short_answer": "the"}, "“the” stands in box 0 2 times"),
    ],
)
def test_a_quote_that_does_not_say_where_it_stands_is_refused(accepted, error):
    with pytest.raises(RowError, match=error):
        gold.accepted_from({"accepted": accepted}, QUOTED)


@pytest.mark.parametrize(
    ("accepted", "error"),
    [
        (None, "a list of 1 to"),
        ("[", "no JSON"),
        ([{"long_answer": 99}], "no box 99"),
        ([{"long_answer": True}], "the number of a box"),
        ([{"question": "bad", "long_answer": 0}], "a bad question has no answer"),
        ([{"long_answer": -1, "short_answer": "yes"}], "needs a long answer"),
        ([{"long_answer": 0, "short_answer": "perhaps"}], "box 0 doesn't contain “perhaps”"),
        ([{"long_answer": 0, "short_answer": 7}], "yes, no, none, a text"),
        ([{"long_answer": 0, "short_answer": [[0, 1]]}], "in box 0"),
        ([{"long_answer": 0, "spans": []}], "and nothing else"),
    ],
)
def test_a_wrong_key_is_refused_with_what_is_wrong(page, accepted, error):
    with pytest.raises(RowError, match=error):
        gold.accepted_from({"accepted": accepted}, page)


def test_keys_come_in_all_or_none_and_name_the_row():
    campaign = nq()
    bad = [*rows([{"long_answer": 0}], 2), (3, {**rows([{"long_answer": 7}])[0][1], "id": "g9", "question": "what?"})]
    with pytest.raises(GoldRefused, match="Row 3, accepted: there is no box 7 on this page of 5"):
        gold_import(campaign=campaign, rows=bad, actor_id=None, now=timezone.now())
    unknown = [(1, {**rows([])[0][1], "document": "nowhere.html"})]
    with pytest.raises(GoldRefused, match="Row 1, document: no document is called"):
        gold_import(campaign=campaign, rows=unknown, actor_id=None, now=timezone.now())
    assert not GoldKey.objects.exists()
    assert gold_import(campaign=campaign, rows=bad[:2], actor_id=None, now=timezone.now()) == 2
    assert gold_import(campaign=campaign, rows=bad[:2], actor_id=None, now=timezone.now()) == 0  # once more


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
    assert not any(word in body for word in ("Gold question", "accepted", "gold_key"))
    assert "North pier, built in 1871 from granite" in body  # the page, for “no answer on the page”
    first, second = Case.objects.order_by("pk")
    keys = [part["key"] for part in first.parts]
    assert keys == ["passage-0", "short-0-yes", "none"]
    url = reverse("quality-cases", args=[campaign.slug])
    client.post(url, {"case": first.pk, **dict.fromkeys(keys, "correct")})
    client.post(url, {"case": second.pk, **dict.fromkeys(keys, "correct"), "none": "debatable"})
    states = {key.item_id: (key.state, key.confirmed_at is not None) for key in GoldKey.objects.all()}
    assert states[first.item_id] == (GoldKeyState.ACTIVE, True)
    assert states[second.item_id] == (GoldKeyState.WAITING, False)


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
    assert "valid JSON" in client.post(page, {"what": "edit", "accepted": "{"}, follow=True).content.decode()
    client.post(page, {"what": "edit", "accepted": '[{"long_answer": 1}]'})
    key.refresh_from_db()
    assert key.accepted == [{"long_answer": [1]}]
    client.post(page, {"what": "ask", "experts": "2"})
    key.refresh_from_db()
    assert (key.state, Case.objects.get().experts) == (GoldKeyState.WAITING, 2)
    assert "Give a reason" in client.post(page, {"what": "retire"}, follow=True).content.decode()
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
    unchanged = [{"long_answer": [0], "short_answer": "none"}]
    assert gold_key_edit(key=key, accepted=unchanged, actor_id=boss.surrogate_id, now=timezone.now()) == 0
    case.refresh_from_db()
    assert case.state == CaseState.OPEN  # saved as it was: what experts say of it still holds
    gold_key_edit(key=key, accepted=[{"long_answer": 3}], actor_id=boss.surrogate_id, now=timezone.now())
    case.refresh_from_db()
    assert case.state == CaseState.RECALLED
    grades = dict.fromkeys((part["key"] for part in case.parts), "correct")
    with pytest.raises(CaseError, match="recalled"):
        opinion_give(
            case=case, surrogate_id=expert_of(campaign).surrogate_id, said=grades, justification="", now=timezone.now()
        )
    assert GoldKey.objects.get().state == GoldKeyState.WAITING


def test_keys_are_made_of_what_answers_agree_on(page):
    first, second, third = words(page, 0)[:3]
    same = said(box=0, kind="spans", spans=[(first, second)])
    assert gold.agreed_on([same, same]) == [{"long_answer": [0], "short_answer": [[first, second]]}]
    other = said(box=0, kind="spans", spans=[(second, third)])
    assert gold.agreed_on([same, other]) == [{"long_answer": [0]}]  # the short answers differ: any will do
    assert gold.agreed_on([same, said(box=1)]) is None
    assert gold.agreed_on([said("bad"), said("bad")]) == [{"question": "bad"}]
    assert gold.agreed_on([said("bad"), said()]) is None
    assert gold.agreed_on([said(), said()]) == [{"long_answer": -1}]
    for answer in (same, said("bad"), said(), said(box=2, kind="yes")):  # people whose answer became the key hit it
        assert gold.missed(gold.agreed_on([answer, answer]), answer) == ""


@pytest.fixture
def piloted():
    """Return a campaign whose pilot two people did: they agree on one item, differ on another, one of them left the third."""
    campaign = factories.campaign(n=1)
    policy_publish(campaign=campaign, policy=Policy(gold_first=0, gold_rate=0), actor_id=None, now=timezone.now())
    rows = [{"id": f"pilot{n}", "question": f"pilot question {n}?", "document": "harbour.html"} for n in range(3)]
    factories.import_rows(campaign, rows, pilot=True)
    factories.launch(campaign)
    people = factories.annotator(campaign), factories.annotator(campaign)
    chosen = {"pilot0": (0, 0), "pilot1": (0, 1), "pilot2": (2, None)}
    for place, person in enumerate(people):
        for _ in range(3):
            assignment = factories.claim(campaign, person)
            box = chosen[assignment.item.external_id][place]
            if box is None:
                assignment_skip(
                    assignment_id=assignment.pk,
                    surrogate_id=person.surrogate_id,
                    reason="unclear",
                    note="",
                    now=timezone.now(),
                )
            else:
                factories.submit(factories.answer(assignment, label="good", box=box))
    factories.import_questions(campaign, [f"question {index} about the harbour" for index in range(30)])
    factories.launch(campaign)
    return campaign, {item.external_id: item for item in campaign.items.filter(batch__purpose="pilot")}, people


def test_pilot_items_on_which_all_agree_become_keys(client, piloted):
    campaign, items, (first, _second) = piloted
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-gold", args=[campaign.slug])
    assert "Gold questions from the pilot" in client.get(url).content.decode()
    client.post(url, {"pilot": "1", "experts": "0"})
    factories.run_jobs()
    key = GoldKey.objects.get()
    assert (key.item_id, key.accepted, key.state) == (
        items["pilot0"].pk,
        [{"long_answer": [0], "short_answer": "none"}],
        GoldKeyState.ACTIVE,
    )
    key.item.refresh_from_db()
    assert (key.item.batch.purpose, key.exposures) == ("gold", 2)
    client.post(url, {"pilot": "1", "experts": "0"})  # once more: nothing new
    factories.run_jobs()
    assert GoldKey.objects.count() == 1
    policy_publish(
        campaign=campaign,
        policy=Policy(gold_rate=0, gold_first=1, gold_first_items=3),
        actor_id=None,
        now=timezone.now(),
    )
    newcomer = factories.annotator(campaign)
    for person in (first, newcomer):
        for _ in range(6):
            factories.annotate(campaign, person, label="good", box=0)
        factories.examine(campaign)
    assert set(GoldCheck.objects.filter(surrogate_id=newcomer.surrogate_id).values_list("is_hit", flat=True)) == {True}
    assert not GoldCheck.objects.filter(surrogate_id=first.surrogate_id).exists()  # they made it


def test_experts_confirm_keys_of_a_pilot_first(client, piloted):
    campaign, items, _people = piloted
    client.force_login(factories.user(is_admin=True))
    client.post(reverse("quality-gold", args=[campaign.slug]), {"pilot": "1", "experts": "2"})
    factories.run_jobs()
    case = Case.objects.get()
    assert (GoldKey.objects.get().state, case.item_id, case.experts) == (GoldKeyState.WAITING, items["pilot0"].pk, 2)


def test_a_place_of_the_pilot_that_comes_free_is_nobodys(client, piloted):
    campaign, items, _people = piloted
    boss = factories.user(is_admin=True)
    client.force_login(boss)
    client.post(reverse("quality-gold", args=[campaign.slug]), {"pilot": "1", "experts": "0"})
    factories.run_jobs()
    row = Annotation.objects.filter(item=items["pilot0"]).first()
    annotation_exclude(annotation=row, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    assert set(items["pilot0"].slots.values_list("state", flat=True)) == {"filled", "closed"}


def test_a_key_of_an_item_that_is_before_experts_is_a_question_of_its_own(client, piloted):
    campaign, items, _people = piloted
    boss = factories.user(is_admin=True)
    case_ask(item=items["pilot0"], because="manager", experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    client.force_login(boss)
    client.post(reverse("quality-gold", args=[campaign.slug]), {"pilot": "1", "experts": "1"})
    factories.run_jobs()
    cases = Case.objects.filter(item=items["pilot0"]).order_by("pk")
    assert list(cases.values_list("because", "state")) == [("manager", "recalled"), ("gold", "open")]
