"""Uploads of systems: what is refused, and with what words; uploads side by side, repeated, and killed."""

import json
from contextlib import contextmanager, suppress
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import Item
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.models import JudgedSystem, SystemSample, SystemScores
from evaluation.rectified import services
from evaluation.rectified.uploads import SystemsRefused, exact_match, read_answers
from evaluation.system_scores import scores_refresh
from jobs.models import Job, JobState
from jobs.ticks import tick
from jobs.work import Work
from tests import factories
from tests.evaluation.systems import (
    COLUMNS,
    COUNT,
    QUESTIONS,
    answers,
    judge_all,
    judging_campaign,
    table,
    truth,
    upload,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return judging_campaign()


def test_uploading_the_same_table_again_changes_nothing(campaign):
    content = table(answers("good", 0.9))
    upload(campaign, content)
    before = (list(SystemSample.objects.values()), Item.objects.count(), JudgedSystem.objects.count())
    assert upload(campaign, content, count=55).result["systems"] == 0
    assert (list(SystemSample.objects.values()), Item.objects.count(), JudgedSystem.objects.count()) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "'q59'"),
        (lambda rows: [*rows, rows[0]], "row 62, column question_id: 'new' answered 'q0' in a row before"),
        (lambda rows: [(*rows[0][:5], "much"), *rows[1:]], "row 2, column score: 'much' isn't a number"),
        (lambda rows: [("", *rows[0][1:]), *rows[1:]], "row 2, column question_id: is empty"),
        (lambda rows: [(*rows[0][:3], "x" * 101, *rows[0][4:])], "differs in"),
        (lambda rows: [(*row[:3], "x" * 101, *row[4:]) for row in rows], "at most 100 characters"),
        (lambda rows: [(*row[:3], "good", *row[4:]) for row in rows], "uploaded before with other answers"),
        (lambda rows: [(rows[0][0], "another?", *rows[0][2:]), *rows[1:]], "with another question"),
        (lambda rows: [(*rows[0][:2], "[true]", *rows[0][3:]), *rows[1:]], "row 2, column references"),
        (lambda rows: [(*rows[0][:4], "x" * 20_001, 0), *rows[1:]], "row 2, column answer: more than 20,000"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place_and_nothing_is_saved(campaign, change, message):
    upload(campaign, table(answers("good", 0.9)))
    before = (JudgedSystem.objects.count(), Item.objects.count())
    sample = SystemSample.objects.get()
    first = sample.questions.index("q0")
    if first not in sample.judged:  # so that a question with another text is noticed
        sample.judged[0] = first
        sample.save()
        JudgedSystem.objects.all().delete()
        upload(campaign, table(answers("good", 0.9)))
        before = (JudgedSystem.objects.count(), Item.objects.count())
    job = upload(campaign, table(change(list(answers("new", 0.5)))))
    assert job.state == "failed" and message in job.error, job.error
    assert (JudgedSystem.objects.count(), Item.objects.count()) == before


def test_too_few_questions_are_refused():
    task_type = TASK_TYPES["correctness"]
    with pytest.raises(SystemsRefused, match="no rows"):
        read_answers(task_type, [])
    campaign = judging_campaign()
    job = upload(campaign, table(list(answers("a", 1.0))[:10]))
    assert "there are 10 questions; at least 20 are needed" in job.error


def test_an_answer_matches_without_articles_case_and_punctuation():
    assert exact_match("the Bram  Stoker.", ["x", "bram stoker"])
    assert not exact_match("", [""]) and not exact_match("Bram", ["Bram Stoker"])


def test_two_first_uploads_at_once_have_one_sample(campaign, monkeypatch):
    draw = services._drawn

    def draw_slowly(*arguments):
        """Draw, while another upload draws and is quicker."""
        monkeypatch.setattr(services, "_drawn", draw)
        upload(campaign, table(reversed(list(answers("quick", 0.9)))))
        return draw(*arguments)

    monkeypatch.setattr(services, "_drawn", draw_slowly)
    upload(campaign, table(answers("slow", 0.5)))
    slow = Job.objects.filter(kind="evaluation.systems").earliest("created_at")
    assert (slow.state, JudgedSystem.objects.count()) == (JobState.QUEUED, 1)  # it begins again
    Job.objects.filter(pk=slow.pk).update(due_at=timezone.now())
    factories.run_jobs()
    assert JudgedSystem.objects.count() == 2
    sample = SystemSample.objects.get()
    for system in JudgedSystem.objects.all():
        asked = [sample.questions[place] for place in sample.judged]
        assert [item.split()[0] for item in system.items] == asked


@pytest.mark.parametrize("score", ["1e308", "1e7", "-2000000"])
def test_scores_beyond_reason_are_refused(campaign, score):
    rows = [(*row[:5], score) for row in answers("good", 0.9)]
    assert "isn't a number between" in upload(campaign, table(rows)).error
    tiny = [(*row[:5], "1e-200" if row[5] else "0") for row in answers("good", 0.9)]
    upload(campaign, table(tiny))
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    [row] = SystemScores.objects.get().data["systems"]
    assert 0.5 < row["score"]["value"] <= 1


def test_a_question_keeps_its_text_and_references_in_later_uploads(campaign):
    upload(campaign, table(answers("good", 0.9)))
    other = [(row[0], "an entirely different question?", *row[2:]) for row in answers("late", 0.0)]
    job = upload(campaign, table(other))
    assert job.state == "failed" and "question 'q" in job.error
    references = [(*row[:2], "other", row[3], "elsewhere", 0) for row in answers("late", 0.0)]
    assert upload(campaign, table(references)).state == "failed"
    assert JudgedSystem.objects.count() == 1


def test_a_first_upload_that_is_refused_draws_nothing(campaign):
    rows = [{"question_id": f"q{n}", "question": "another?", "answer": f"It is {truth(n)}"} for n in range(QUESTIONS)]
    factories.import_rows(campaign, rows)
    job = upload(campaign, table(answers("good", 1.0)))
    assert job.state == "failed" and "question 'q" in job.error
    assert not SystemSample.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: [{**row, "score": ""} if n % 7 == 0 else row for n, row in enumerate(rows)],
            "score in some rows",
        ),
        (lambda rows: [{**row, "score": "", "references": []} for row in rows], "nothing to compare with"),
        (lambda rows: [{**row, "answer": ["a", "b"]} for row in rows], "column answer: expected a text"),
        (
            lambda rows: [{**row, "references": {"a": 1}} for row in rows],
            "column references: expected a text or a list",
        ),
        (
            lambda rows: [{name: value for name, value in row.items() if name != "question_id"} for row in rows],
            "no such column",
        ),
    ],
)
def test_tables_that_would_give_wrong_scores_are_refused(campaign, change, message):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in answers("good", 0.9)]
    content = "".join(json.dumps(row) + "\n" for row in change(rows)).encode()
    job = upload(campaign, content, name="systems.jsonl")
    assert job.state == "failed" and message in job.error, job.error


def test_references_and_answers_as_people_write_them(campaign):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in answers("good", 1.0)]
    for number, row in enumerate(rows):
        row["references"] = [
            f"['It is {truth(number)}', 'x']",
            [f"It is {truth(number)}", 7],
            f"It is {truth(number)}",
        ][number % 3]
        row["answer"] = number if number % 5 == 0 else row["answer"]
        del row["score"]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    job = upload(campaign, content, name="systems.jsonl")
    assert job.state == "done", job.error
    assert np.mean(JudgedSystem.objects.get().scores) == pytest.approx(0.8)
    assert all("[" not in one for item in Item.objects.all() for one in item.content["references"])


def test_answers_of_a_pilot_are_refused_because_they_get_no_label(campaign):
    rows = [
        {
            "question_id": f"q{n}",
            "question": f"where is place {n}?",
            "references": truth(n),
            "answer": f"It is {truth(n)}",
        }
        for n in range(QUESTIONS)
    ]
    factories.import_rows(campaign, rows, pilot=True)
    job = upload(campaign, table(answers("good", 1.0)))
    assert job.state == "failed" and "in a pilot" in job.error


def test_columns_that_were_not_used_are_named(campaign):
    lines = table(answers("good", 0.9)).decode().splitlines()
    content = "\n".join([f"{lines[0]},gold", *(f"{line},x" for line in lines[1:])]).encode()
    assert upload(campaign, content).result["notes"] == ["not used: column gold"]


class Killed(BaseException):
    """The process died here."""


@pytest.mark.parametrize("step", range(1, 4))  # sample, items, systems
def test_an_upload_that_is_killed_anywhere_goes_on_as_if_nothing_had_been(campaign, monkeypatch, step):
    keep, left = Work.step, [step]

    @contextmanager
    def dying(self, **told):
        with keep(self, **told):
            yield
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    monkeypatch.setattr(Work, "step", dying)
    with suppress(Killed):
        upload(campaign, table(answers("good", 0.9), answers("poor", 0.4)))
    Job.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=1))
    tick(now=timezone.now())
    factories.run_jobs()
    sample = SystemSample.objects.get()
    named = {item for system in JudgedSystem.objects.all() for item in system.items}
    assert (len(sample.judged), JudgedSystem.objects.count()) == (COUNT, 2)
    assert named == set(Item.objects.values_list("external_id", flat=True))
    assert Job.objects.filter(kind="evaluation.systems", state=JobState.DONE).count() == 1
