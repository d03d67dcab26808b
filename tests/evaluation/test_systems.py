"""Systems in human terms, in a campaign: uploads, blind judgments of a random sample, and corrected scores."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.items.services.items import item_retire
from annotation.models import Item
from evaluation.models import JudgedSystem, SystemSample, SystemScores
from evaluation.system_scores import scores_refresh
from measures.rectified import Board
from quality.labels.services.sealing import split_seal
from quality.models import Inspection, Verdict
from tests import factories
from tests.evaluation.systems import COUNT, QUESTIONS, answers, judge_all, judging_campaign, shown, table, truth, upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return judging_campaign()


def test_from_an_upload_to_scores_in_human_terms(campaign):
    job = upload(campaign, table(answers("good", 0.9), answers("poor", 0.4)))
    assert job.state == "done", job.error
    sample = SystemSample.objects.get()
    assert (len(sample.questions), len(sample.judged)) == (QUESTIONS, COUNT)
    items = list(Item.objects.filter(campaign=campaign))
    assert "good" not in json.dumps([item.content for item in items] + [item.external_id for item in items])
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    data = SystemScores.objects.get().data
    assert [row["system"] for row in data["systems"]] == ["good", "poor"]
    assert (data["judged"], data["waiting"], data["told_apart"]) == (COUNT, [], 1)
    # The same numbers as from the arrays, which perf.statistics.rectified shows to be unbiased.
    judged = np.array(sample.judged)
    said, scores = {}, {}
    for system, quality in (("good", 0.9), ("poor", 0.4)):
        rows = list(answers(system, quality))
        said[system] = np.array([float(rows[place][2] in rows[place][4]) for place in judged])
        scores[system] = np.array([row[5] for row in rows])
    board = Board(scores, judged, said, np.zeros(QUESTIONS, dtype=int))
    for row in data["systems"]:
        assert row["score"]["value"] == pytest.approx(board.rectified(row["system"]).score.value)
    text = shown(campaign)
    assert "1 of 1 pairs are told apart" in text and 'name="file"' not in text


def test_equal_answers_are_judged_once_and_no_answer_is_wrong(campaign):
    same = [
        ("q%d" % n, f"where is place {n}?", truth(n), "copy", f"  It is   {truth(n)} ", 1) for n in range(QUESTIONS)
    ]
    silent = [("q%d" % n, f"where is place {n}?", truth(n), "silent", "", "") for n in range(QUESTIONS)]
    upload(campaign, table(answers("good", 1.0), same, silent))
    assert Item.objects.filter(campaign=campaign).count() == COUNT
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    values = {row["system"]: row["score"]["value"] for row in SystemScores.objects.get().data["systems"]}
    assert values == {"copy": 1.0, "good": 1.0, "silent": 0.0}


def test_a_new_system_joins_with_its_own_answers_only(campaign):
    upload(campaign, table(answers("good", 1.0)))
    factories.launch(campaign)
    judge_all(campaign)
    before = Item.objects.count()
    upload(campaign, table(answers("late", 0.5)))
    new = Item.objects.count() - before
    assert 0 < new < COUNT
    scores_refresh(campaign=campaign, now=timezone.now())
    data = SystemScores.objects.get().data
    assert [row["system"] for row in data["systems"]] == ["good"]
    [waiting] = data["waiting"]
    assert (waiting["system"], waiting["judged"], waiting["of"]) == ("late", COUNT - new, COUNT)
    text = shown(campaign, Role.MANAGER)
    assert "only the automatic score is known, which may be biased" in text and "aren't launched yet" in text
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    assert len(SystemScores.objects.get().data["systems"]) == 2


def test_a_question_with_a_retired_answer_is_left_out_for_all(campaign):
    boss = factories.user(is_admin=True)
    upload(campaign, table(answers("good", 0.9), answers("poor", 0.4)))
    factories.launch(campaign)
    item_retire(item=Item.objects.first(), reason="x", actor_id=boss.surrogate_id, now=timezone.now())
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    data = SystemScores.objects.get().data
    assert (data["judged"], len(data["systems"])) == (COUNT - 1, 2)


def test_scores_of_a_sealed_split_are_not_shown(campaign):
    upload(campaign, table(answers("good", 0.9)))
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    assert "good" in shown(campaign)
    Inspection.objects.update(verdict="good")
    split_seal(split=campaign.splits.get(), actor_id=None, now=timezone.now())
    text = shown(campaign)
    assert "a split of this campaign is sealed" in text and "Judgments alone" not in text
    scores_refresh(campaign=campaign, now=timezone.now())
    assert SystemScores.objects.get().data["systems"] == []


def test_only_campaigns_that_judge_answers_have_the_page(campaign):
    other = factories.antique(items=1, n=1)
    client = Client()
    client.force_login(factories.user(is_admin=True))
    assert client.get(reverse("systems", args=[other.slug])).status_code == 404
    researcher = factories.user()
    factories.join(campaign, researcher, Role.RESEARCHER)
    client.force_login(researcher)
    sent = {"file": SimpleUploadedFile("x.csv", table(answers("a", 1.0))), "count": COUNT}
    assert client.post(reverse("systems", args=[campaign.slug]), sent).status_code == 403


def test_scores_that_were_made_for_the_known_sample_decide_nothing(campaign):
    upload(campaign, table(answers("good", 0.9)))
    sample = SystemSample.objects.get()
    asked = {sample.questions[place] for place in sample.judged}
    forged = [
        (*row[:5], (0.5 if row[4].startswith("It is") else 0.4) if row[0] in asked else 5)
        for row in answers("late", 0.3)
    ]
    upload(campaign, table(forged))
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    rows = {row["system"]: row for row in SystemScores.objects.get().data["systems"]}
    late = rows["late"]
    assert (late["is_late"], late["is_used"], rows["good"]["is_late"], rows["good"]["is_used"]) == (
        True,
        False,
        False,
        True,
    )
    assert late["score"] == late["sample"] and late["score"]["value"] < 0.6
    text = shown(campaign)
    assert "Added later</span>" in text and "Automatic score not used</span>" in text


def test_an_answer_that_is_retired_after_its_judgment_keeps_it(campaign):
    boss = factories.user(is_admin=True)
    upload(campaign, table(answers("good", 0.9)))
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    before = SystemScores.objects.get().data["systems"]
    wrong = Verdict.objects.filter(label="incorrect").values("item")
    for item in Item.objects.filter(pk__in=wrong):
        item_retire(item=item, reason="x", actor_id=boss.surrogate_id, now=timezone.now())
    scores_refresh(campaign=campaign, now=timezone.now())
    assert SystemScores.objects.get().data["systems"] == before


def test_a_system_is_removed_and_its_judgments_stay(campaign):
    upload(campaign, table(answers("good", 0.9), answers("poor", 0.4)))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    before = Item.objects.count()
    assert boss.post(reverse("systems", args=[campaign.slug]), {"remove": "poor"}).status_code == 302
    assert [system.name for system in JudgedSystem.objects.all()] == ["good"]
    assert Item.objects.count() == before
    assert AuditEvent.objects.filter(action="system_remove").count() == 1
    assert AuditEvent.objects.filter(action="systems_draw").count() == 1
