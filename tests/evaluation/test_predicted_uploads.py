"""Predictions are read as annotators' answers: what counts, what is refused, and what is said of the rest."""

import json

import pytest
from django.utils import timezone

from annotation.models import Item, ItemState
from documents.selectors import tokenization_of
from evaluation.models import PredictedAnswer, PredictedSystem
from evaluation.nq.answers import OFFSETS
from evaluation.predicted import services
from jobs.models import Job, JobState
from quality.gold.services.keys import gold_import
from tests.evaluation.predicted import (
    WRONG,
    asked_campaign,
    draw,
    prediction,
    predictions,
    truth,
    upload,
)
from tests.quality.worlds import rows
from web.job_titles import outcome_of

pytestmark = pytest.mark.django_db


def test_the_same_upload_changes_nothing_and_another_one_of_the_name_is_refused():
    campaign = asked_campaign(items=3)
    content = predictions(campaign, truth)
    first = {"predictions": 3, "long": 2, "short": 2, "missing": 0, "others": 0, "unused": 0}
    assert upload(campaign, content, "good").result == first
    before = list(PredictedAnswer.objects.values())
    assert upload(campaign, content, "good").result == {"predictions": 0}
    assert list(PredictedAnswer.objects.values()) == before
    for other in ((predictions(campaign, lambda number: WRONG), {}), (content, {"least_long": "0.5"})):
        job = upload(campaign, other[0], "good", **other[1])
        assert job.state == JobState.FAILED and "uploaded before with other predictions" in job.error
    assert list(PredictedAnswer.objects.values()) == before


def test_thresholds_decide_which_answers_count():
    campaign = asked_campaign(items=2)
    item = Item.objects.get(external_id="q1")
    content = json.dumps({"predictions": [prediction(item, 0, score=0.4, short_score=3)]}).encode()
    upload(campaign, content, "all")
    upload(campaign, content, "sure", least_long="0.5")
    upload(campaign, content, "long", least_short="3.5")
    found = {row.system.name: row.answer for row in PredictedAnswer.objects.select_related("system")}
    assert {
        name: (answer["long_answer"]["candidate_index"], answer["short_answer"]["kind"])
        for name, answer in found.items()
    } == {"all": (0, "yes"), "sure": (-1, "none"), "long": (0, "none")}
    assert dict(Job.objects.filter(kind="evaluation.predictions").values_list("payload__system", "result__unused")) == {
        "all": 0,
        "sure": 1,
        "long": 0,
    }


def changed(campaign, **changes):
    item = Item.objects.get(campaign=campaign, external_id="q1")
    row = prediction(item, 0)
    return item, row, json.dumps({"predictions": [row | changes]}).encode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"example_id": "1"}, "expected a whole number"),
        ({"example_id": 1}, "None of the predictions is for an item"),
        (
            {"long_answer": {"start_byte": -1, "end_byte": -1, "start_token": 1, "end_token": 3}},
            "long_answer: tokens 1 to 3 aren't a box of the page",
        ),
        (
            {"long_answer": {"start_byte": 5, "end_byte": 7, "start_token": -1, "end_token": -1}},
            "long_answer: bytes 5 to 7 aren't a box of the page",
        ),
        ({"long_answer_score": None}, "expected a number"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_whole(changes, said):
    campaign = asked_campaign(items=2)
    _item, _row, content = changed(campaign, **changes)
    job = upload(campaign, content, "good")
    assert job.state == JobState.FAILED and said in job.error
    assert not PredictedSystem.objects.exists() and not PredictedAnswer.objects.exists()


def test_spans_are_found_by_their_bytes_too_and_count_inside_the_long_answer_only():
    campaign = asked_campaign(items=2)
    item, row, _content = changed(campaign)
    page = tokenization_of(item.tokenization)
    box, other = page.candidates[0], page.candidates[1]
    inside = {"start_token": -1, "end_token": -1, "start_byte": page.starts[box.start_token + 2]}
    inside["end_byte"] = page.ends[box.start_token + 3]
    outside = {"start_byte": -1, "end_byte": -1, "start_token": other.start_token, "end_token": other.end_token}
    long = {"start_token": -1, "end_token": -1, "start_byte": box.start_byte, "end_byte": box.end_byte}
    start = box.start_token + 2
    for name, spans, kept in (
        ("inside", [inside, inside], [[start, start + 2]]),
        ("outside", [outside], []),
    ):
        sent = row | {"yes_no_answer": "NONE", "short_answers": spans, "long_answer": long}
        job = upload(campaign, json.dumps({"predictions": [sent]}).encode(), name)
        answer = PredictedAnswer.objects.get(system__name=name).answer
        assert (answer["long_answer"]["candidate_index"], answer["short_answer"]["spans"]) == (0, kept)
        assert (job.result["predictions"], job.result["unused"]) == (1, int(not kept))


def test_other_examples_are_counted_and_gold_questions_are_others():
    campaign = asked_campaign(items=3)
    gold_import(campaign=campaign, rows=rows([{"long_answer": 0}]), actor_id=None, now=timezone.now())
    gold = Item.objects.filter(campaign=campaign, batch__purpose="gold").first()
    sent = json.loads(predictions(campaign, truth))["predictions"]
    sent += [prediction(gold, 0), {**sent[0], "example_id": 17}]
    Item.objects.filter(external_id="q2").update(state=ItemState.RETIRED)
    job = upload(campaign, json.dumps({"predictions": sent}).encode(), "good")
    assert [job.result[name] for name in ("predictions", "missing", "others", "unused")] == [2, 0, 3, 0]


def test_names_sizes_and_numbers_have_limits(monkeypatch):
    campaign = asked_campaign(items=2)
    content = predictions(campaign, truth)
    assert "The file has no predictions" in upload(campaign, b'{"predictions": []}', "none").error
    monkeypatch.setattr(services, "MOST_SYSTEMS", 1)
    assert "Add a system first" in draw(campaign, 20).error
    upload(campaign, content, "one")
    assert "at most 1 systems" in upload(campaign, content, "two").error
    PredictedSystem.objects.all().delete()
    monkeypatch.setattr("evaluation.predicted.uploads.MOST_ANSWERS", 1)
    assert "at most 1 items" in upload(campaign, content, "one").error
    for name in ("a\nb", "\u202e", "a\x07"):
        with pytest.raises(services.PredictedError, match="visible characters"):
            services.predictions_import(work=None, campaign=campaign, content=b"{}", file_name="a", system=name)
    monkeypatch.setattr(services, "MOST_BYTES", 5 * 2**20)
    monkeypatch.setattr("evaluation.tasks.MOST_BYTES", 5 * 2**20)
    assert "larger than 5 MB" in upload(campaign, content + b" " * 5 * 2**20, "one").error


def test_the_page_of_a_job_says_what_was_not_used():
    campaign = asked_campaign(items=3)
    sent = json.loads(predictions(campaign, truth))["predictions"]
    sent[0]["example_id"] = 17
    sent[-1] |= {"short_answers": [dict.fromkeys(OFFSETS, 10**9)], "yes_no_answer": "NONE"}
    sent[-1]["short_answers"][0] |= {"start_token": 10**8, "start_byte": 10**8}
    job = upload(campaign, json.dumps({"predictions": sent}).encode(), "good")
    assert job.result == {"predictions": 2, "long": 2, "short": 1, "missing": 1, "others": 1, "unused": 1}
    assert outcome_of(job.result) == (
        "2 predictions added. 2 have a long answer. 1 has a short answer. "
        "1 item has no prediction, so it can't be drawn. 1 prediction is for another example. "
        "1 short answer isn't used because it isn't valid within its long answer."
    )
