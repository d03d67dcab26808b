"""A system is compared like one more annotator: experts judge its answers among people's, blind."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.models import Annotation, AnnotationState, Item, ItemState, Split
from evaluation.models import DrawnItem, PredictedAnswer, PredictedSystem, SystemScores
from evaluation.predicted import services
from evaluation.system_scores import scores_refresh
from jobs.models import Job, JobState
from jobs.work import RetryLater
from measures import studies
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.services.cases import case_recall
from quality.labels.services.sealing import split_seal
from quality.models import Case, CaseReason, CaseState, Inspection, Opinion, QualitySnapshot
from quality.studies.selectors.studies import precision_of
from tests import factories
from tests.evaluation.predicted import (
    RIGHT,
    WRONG,
    asked_campaign,
    draw,
    judge_all,
    judge_case,
    number_of,
    predictions,
    truth,
    upload,
)
from tests.quality.worlds import expert_of

pytestmark = pytest.mark.django_db


def scored(campaign):
    scores_refresh(campaign=campaign, now=timezone.now())
    return SystemScores.objects.get(campaign=campaign).data


def shown(campaign, role=Role.RESEARCHER):
    person = factories.user()
    factories.join(campaign, person, role)
    client = Client()
    client.force_login(person)
    return client.get(reverse("systems", args=[campaign.slug])).content.decode()


def one_of(rows, system):
    [found] = [row for row in rows if row["system"] == system]
    return found


def test_experts_judge_a_system_and_an_annotator_on_the_same_items():
    campaign = asked_campaign(careless={1, 2, 4})
    upload(campaign, predictions(campaign, truth), "good")
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    job = draw(campaign, 24)
    assert job.result["drawn"] == 24 == PredictedAnswer.objects.exclude(drawn=None).count() / 2
    assert job.result["cases"] == 24 == Case.objects.filter(because=CaseReason.SYSTEMS).count()
    judge_all(campaign)
    data = scored(campaign)
    assert data["states"] == {"drawn": 24, "judged": 24, "withdrawn": 0, "waiting": 0}
    found = data["kinds"]["passage"]["judged"]
    good, poor = one_of(found, "good"), one_of(found, "poor")
    # Sixteen items have an answer; the annotator found another box in three of them.
    assert good["annotator"] == poor["annotator"]
    assert [good["annotator"][name]["share"] for name in ("given", "precision", "recall", "right")] == pytest.approx(
        [16 / 24, 13 / 16, 13 / 16, 21 / 24]
    )
    assert [good["own"][name]["share"] for name in ("given", "precision", "recall", "f1", "right")] == pytest.approx(
        [16 / 24, 1, 1, 1, 1]
    )
    assert [poor["own"][name]["share"] for name in ("given", "precision", "recall", "right")] == [1, 0, 0, 0]
    assert good["difference"]["difference"] == pytest.approx(3 / 24)
    assert good["difference"]["low"] < 3 / 24 < good["difference"]["high"]
    assert poor["difference"]["low"] >= -1 and poor["difference"]["high"] < -0.5
    assert one_of(data["kinds"]["short"]["judged"], "good")["own"]["recall"]["share"] == 1
    [pair] = data["kinds"]["passage"]["pairs"]
    assert (pair["first"], pair["second"], pair["difference"]["difference"]) == ("good", "poor", 1)
    assert 0.7 < pair["difference"]["low"] < pair["difference"]["high"] == 1
    page = shown(campaign)
    assert page.count("good – poor") == 2
    assert page.count(">An annotator</th>") == 2  # once for each kind of answer: both systems have its items
    assert "+12.5" in page and "100.0%" in page


def test_nothing_tells_experts_whose_a_part_is():
    campaign = asked_campaign(careless={1})
    upload(campaign, predictions(campaign, truth), "reader-one")
    draw(campaign, 24)
    case = Case.objects.get(item__external_id="q1")
    assert [(part["box"], sorted(part)) for part in case.parts if part["what"] == "passage"] == [
        (RIGHT, ["box", "key", "what"]),
        (WRONG, ["box", "key", "of_reference", "what"]),
    ]
    expert = campaign.scope.memberships.get(role="expert").user
    client = Client()
    client.force_login(expert)
    for _ in range(3):
        page = client.get(reverse("quality-cases", args=[campaign.slug])).content.decode()
        assert 'name="passage-' in page
        assert not [word for word in ("reader-one", "of_reference", "system") if word in page.lower()]
        judge_all(campaign, most=1)
    assert "reader-one" not in "".join(map(str, Case.objects.values_list("parts", flat=True)))


def test_cases_of_systems_are_in_no_number_about_annotators():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    draw(campaign, 24)
    judge_all(campaign)
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert QualitySnapshot.objects.get().data["experts"]["sample"] == []
    assert precision_of(campaign)["passage"]["n"] == 0


def test_items_without_anything_to_judge_are_drawn_but_not_sent():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, truth), "good")
    job = draw(campaign, 24)
    assert (job.result["drawn"], job.result["cases"]) == (24, 16)
    assert scored(campaign)["states"] == {"drawn": 24, "judged": 8, "withdrawn": 0, "waiting": 16}
    for judged in range(3):  # what is known first is no random sample; what was drawn first is
        waiting = DrawnItem.objects.filter(case__state=CaseState.OPEN).order_by("place").first()
        rows = scored(campaign)["kinds"]["passage"]["judged"]
        assert sum(row["items"] for row in rows) == waiting.place - 1 >= judged
        last = Case.objects.filter(state=CaseState.OPEN).order_by("-pk").first()
        judge_case(campaign, last)
        assert scored(campaign)["kinds"]["passage"]["judged"] == rows
        judge_all(campaign, most=1)
    judge_all(campaign)
    assert one_of(scored(campaign)["kinds"]["passage"]["judged"], "good")["own"]["right"]["share"] == 1


def test_a_system_that_comes_later_joins_the_next_draw():
    campaign = asked_campaign(items=42)
    upload(campaign, predictions(campaign, truth), "first")
    draw(campaign, 20)
    before = set(PredictedAnswer.objects.exclude(drawn=None).values_list("item", flat=True))
    upload(campaign, predictions(campaign, lambda number: WRONG), "later")
    judge_all(campaign)
    assert [row["system"] for row in scored(campaign)["kinds"]["passage"]["judged"]] == ["first"]
    draw(campaign, 20)
    judge_all(campaign)
    found = scored(campaign)["kinds"]["passage"]["judged"]
    assert {row["system"]: row["items"] for row in found} == {"first": 40, "later": 20}
    assert [pair["difference"]["items"] for pair in scored(campaign)["kinds"]["passage"]["pairs"]] == [20]
    later = PredictedAnswer.objects.filter(system__name="later").exclude(drawn=None)
    assert not before & set(later.values_list("item", flat=True))
    scored(campaign)
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    assert "2 items can still be drawn." in boss.get(reverse("systems", args=[campaign.slug])).content.decode()
    assert "Only 2 items can be drawn" in draw(campaign, 20).error
    assert draw(campaign, 2).result["drawn"] == 2
    scored(campaign)
    assert shown(campaign).count(">An annotator</th>") == 4  # the systems have different items


def test_withdrawn_cases_are_counted_and_left_out():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, truth), "good")
    draw(campaign, 24, experts=2)
    boss = factories.user(is_admin=True)
    case_recall(case=Case.objects.order_by("pk").first(), actor_id=boss.surrogate_id, now=timezone.now())
    judge_all(campaign)
    data = scored(campaign)
    assert data["states"] == {"drawn": 24, "judged": 23, "withdrawn": 1, "waiting": 0}
    assert one_of(data["kinds"]["passage"]["judged"], "good")["items"] == 23


def test_an_item_before_experts_for_another_reason_stops_the_draw():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, truth), "good")
    Case.objects.create(
        campaign=campaign,
        item=Item.objects.get(external_id="q1"),
        because=CaseReason.DOUBT,
        parts=[{"key": "passage-0", "what": "passage", "box": 0}],
        opened_at=timezone.now(),
    )
    job = draw(campaign, 24)
    assert job.state == JobState.FAILED and "for another reason" in job.error
    assert not PredictedAnswer.objects.exclude(drawn=None).exists()


@pytest.mark.parametrize("step", [1, 2, 12, 24])
def test_a_draw_that_is_killed_goes_on_where_it_was(monkeypatch, step):
    class Killed(BaseException):
        """The process died here."""

    campaign = asked_campaign()
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    keep, left = services.case_open, [step]

    def dying(**options):
        opened = keep(**options)
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return opened

    monkeypatch.setattr(services, "case_open", dying)
    with suppress(Killed):
        draw(campaign, 24)
    assert left[0] == 0
    assert Case.objects.count() == step - 1 == PredictedAnswer.objects.exclude(drawn=None).count()
    Job.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=1))
    upload(campaign, predictions(campaign, truth), "later")  # isn't part of a draw that runs
    factories.run_jobs()
    job = Job.objects.get(kind="evaluation.sample_predictions")
    assert (job.state, job.result["drawn"], job.result["cases"]) == (JobState.DONE, 24, 24)
    assert Case.objects.count() == 24
    assert PredictedAnswer.objects.filter(system__name="poor").exclude(drawn__case=None).count() == 24
    assert not PredictedAnswer.objects.filter(system__name="later").exclude(drawn=None).exists()
    assert AuditEvent.objects.filter(action="predictions_draw").count() == 1


def test_people_are_scored_by_the_same_measure_where_items_have_many_annotations():
    campaign = asked_campaign(items=6, n=6)
    upload(campaign, predictions(campaign, lambda number: WRONG if number == 1 else truth(number)), "good")
    [found] = scored(campaign)["kinds"]["passage"]["bounds"]
    people, system = [], []
    for item in Item.objects.filter(batch__purpose="work").order_by("pk"):
        box = truth(number_of(item))
        people.append([box] * 6)
        system.append(WRONG if number_of(item) == 1 else box)
    expected = studies.as_json(studies.bounds(people, references=5, alpha=0, system=system))
    assert found == {
        "system": "good",
        "items": 6,
        "scores": {who: expected[who] for who in ("single", "super", "system")},
    }
    assert found["scores"]["system"]["recall"]["share"] == 0.75 and found["scores"]["single"]["f1"]["share"] == 1
    page = shown(campaign)
    assert "F1 of the super-annotator" in page and "items with 6 annotations" in page
    rows = json.loads(predictions(campaign, truth))["predictions"]
    upload(campaign, json.dumps({"predictions": rows[:2]}).encode(), "of two items")
    items = [row["items"] for row in scored(campaign)["kinds"]["passage"]["bounds"]]
    assert items == [2, 2]  # nobody looks better by leaving items out


def test_the_alternative_annotator_test_compares_with_each_annotator():
    campaign = asked_campaign(items=31, n=3)
    upload(campaign, predictions(campaign, truth), "good")
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    found = scored(campaign)["kinds"]["passage"]["alternative"]
    good, poor = one_of(found, "good"), one_of(found, "poor")
    assert (good["tested"], good["omega"], good["passes"], good["agreement"]) == (3, 1, True, {"model": 1, "people": 1})
    assert (poor["omega"], poor["passes"], poor["agreement"]["model"]) == (0, False, 0)
    assert "May replace an annotator" in shown(campaign)
    campaign.annotations.update(via="published")  # one and the same person for the first, second … of each item
    found = scored(campaign)["kinds"]["passage"]["alternative"]
    assert found == [{"system": "good", "most": 0}, {"system": "poor", "most": 0}]
    few = asked_campaign(items=2, n=2)
    upload(few, predictions(few, truth), "good")
    assert scored(few)["kinds"]["passage"]["alternative"] == [{"system": "good", "most": 2}]
    assert "The most that anyone has is 2." in shown(few)


def test_items_of_a_sealed_split_are_in_no_draw_and_no_number():
    campaign = asked_campaign(items=24)
    upload(campaign, predictions(campaign, truth), "good")
    draw(campaign, 20)
    judge_all(campaign)
    assert scored(campaign)["states"]["judged"] == 20
    assert "100.0%" in shown(campaign)
    Inspection.objects.update(verdict="good")
    split_seal(split=Split.objects.get(campaign=campaign, name="dev"), actor_id=None, now=timezone.now())
    page = shown(campaign)  # before new numbers are there
    assert "100.0%" not in page and "sealed splits are left out" in page
    data = scored(campaign)
    assert data["states"]["drawn"] == 0 and data["kinds"]["passage"]["judged"] == []
    assert data["kinds"]["passage"]["alternative"] == [{"system": "good", "most": 0}]
    assert "Only 0 items" in draw(campaign, 20).error


def test_only_managers_change_anything_and_only_campaigns_of_pages_have_it(client):
    campaign = asked_campaign(items=2)
    url = reverse("systems", args=[campaign.slug])
    upload(campaign, predictions(campaign, truth), "good")
    researcher = factories.user()
    factories.join(campaign, researcher, Role.RESEARCHER)
    client.force_login(researcher)
    client.get(url)
    factories.run_jobs()
    text = client.get(url).content.decode()
    assert "good" in text and "Add a system" not in text
    number = PredictedSystem.objects.get().pk
    for sent in ({"do": "remove", "system": number}, {"do": "draw", "count": 20, "experts": 1}, {"do": "add"}):
        assert client.post(url, sent).status_code == 403
    client.force_login(expert_of(campaign))
    assert client.get(url).status_code == 404
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    assert boss.get(reverse("systems", args=[factories.antique(items=1).slug])).status_code == 404
    assert "This campaign has 1 expert" in boss.post(url, {"do": "draw", "count": 20, "experts": 2}).content.decode()
    assert boss.post(url, {"do": "remove", "system": number + 1}).status_code == 404
    assert boss.post(url, {"do": "remove", "system": number}).status_code == 302
    assert not PredictedSystem.objects.exists()


def test_a_removed_system_leaves_the_judgments_and_the_other_systems():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    upload(campaign, predictions(campaign, truth), "good")
    draw(campaign, 24)
    judge_all(campaign)
    before = one_of(scored(campaign)["kinds"]["passage"]["judged"], "good")
    upload(campaign, predictions(campaign, truth), "late")
    services.predictions_remove(
        system=PredictedSystem.objects.get(name="poor"),
        actor_id=factories.user().surrogate_id,
        now=timezone.now(),
    )
    factories.run_jobs()
    assert Opinion.objects.count() == 24
    assert one_of(scored(campaign)["kinds"]["passage"]["judged"], "good") == before


def test_items_whose_first_slot_is_not_counted_are_not_drawn():
    campaign = asked_campaign(n=2)
    upload(campaign, predictions(campaign, truth), "good")
    Annotation.objects.filter(item__external_id="q1", slot__index=0).update(state=AnnotationState.EXCLUDED)
    assert "Only 23 items can be drawn" in draw(campaign, 24).error
    assert draw(campaign, 23).result["drawn"] == 23
    assert not Case.objects.filter(item__external_id="q1").exists()


def test_a_form_sent_twice_draws_once():
    campaign = asked_campaign(items=42)
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    expert_of(campaign)
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    for _ in range(2):
        boss.post(reverse("systems", args=[campaign.slug]), {"do": "draw", "count": 20, "experts": 1})
    factories.run_jobs()
    assert DrawnItem.objects.count() == 20


def test_known_items_are_never_drawn_again_and_their_cases_are_recalled():
    campaign = asked_campaign(items=42)
    upload(campaign, predictions(campaign, lambda number: WRONG), "wrong file")
    draw(campaign, 20)
    judge_all(campaign, most=5)
    known = set(DrawnItem.objects.values_list("item", flat=True))
    upload(campaign, predictions(campaign, truth), "right file")
    services.predictions_remove(
        system=PredictedSystem.objects.get(name="wrong file"),
        actor_id=factories.user().surrogate_id,
        now=timezone.now(),
    )
    factories.run_jobs()
    assert Case.objects.filter(state=CaseState.RECALLED).count() == 15
    assert draw(campaign, 20).result["drawn"] == 20
    assert not known & set(PredictedAnswer.objects.exclude(drawn=None).values_list("item", flat=True))
    assert scored(campaign)["states"]["drawn"] == 20


def test_what_is_sealed_retired_or_excluded_while_items_are_drawn_is_not_sent(monkeypatch):
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, lambda number: WRONG), "poor")
    order = services._drawn
    first = order(campaign, [PredictedSystem.objects.get().pk], 24)[0]
    changes = (
        lambda: Item.objects.filter(pk=first).update(state=ItemState.RETIRED),
        lambda: Split.objects.filter(campaign=campaign).update(sealed_at=timezone.now()),
        lambda: Annotation.objects.filter(item=first).update(state=AnnotationState.EXCLUDED),
        lambda: PredictedAnswer.objects.filter(item=first).delete(),
    )

    @transaction.atomic
    def send_after(change):
        change()
        services._send(campaign, first, [PredictedSystem.objects.get().pk], 1, None)

    for change in changes:
        with pytest.raises(RetryLater):
            send_after(change)
    assert not DrawnItem.objects.exists() and not Case.objects.exists()
    send_after(lambda: None)
    assert Case.objects.count() == DrawnItem.objects.count() == 1


def test_a_draw_that_sends_nothing_is_in_no_log():
    campaign = asked_campaign()
    upload(campaign, predictions(campaign, truth), "good")
    assert "Only 24 items can be drawn instead of 30" in draw(campaign, 30).error
    assert not AuditEvent.objects.filter(action="predictions_draw").exists()


def test_cases_of_other_systems_stay_when_one_is_removed():
    campaign = asked_campaign()
    for name in ("first", "second"):
        upload(campaign, predictions(campaign, lambda number: WRONG), name)
    draw(campaign, 20)
    for name, recalled in (("first", 0), ("second", 20)):
        services.predictions_remove(
            system=PredictedSystem.objects.get(name=name), actor_id=factories.user().surrogate_id, now=timezone.now()
        )
        factories.run_jobs()
        assert Case.objects.filter(state=CaseState.RECALLED).count() == recalled
