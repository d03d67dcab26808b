"""Systems in human terms, in a campaign: uploads, blind judgments of a random sample, and corrected scores."""

import csv
import io
import json
import random
from contextlib import contextmanager, suppress
from datetime import timedelta

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.items.services.items import item_retire
from annotation.models import Campaign, Item
from annotation.slots.services.claims import slot_claim_next
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.drafts import stage_advance
from evaluation.models import JudgedSystem, SystemSample, SystemScores
from evaluation.rectified import services
from evaluation.rectified.services import scores_refresh
from evaluation.rectified.uploads import SystemsRefused, exact_match, read_answers
from jobs.models import Job, JobState
from jobs.ticks import tick
from jobs.work import Work
from measures.rectified import Board
from quality.labels.services.sealing import split_seal
from quality.models import Inspection, Verdict
from tests import factories

pytestmark = pytest.mark.django_db
QUESTIONS, COUNT = 60, 30
COLUMNS = ("question_id", "question", "references", "system", "answer", "score")


def truth(number):
    return f"town {number}"


def answers(system, quality, seed=0):
    """Return rows of a system that is right in a share of the questions, and whose answers are longer when it is."""
    chance = random.Random(f"{system}{seed}")
    for number in range(QUESTIONS):
        right = chance.random() < quality
        answer = f"It is {truth(number)}" if right else f"village {number % 7}"
        score = float(right) if chance.random() < 0.9 else float(not right)
        yield f"q{number}", f"where is place {number}?", truth(number), system, answer, score


def table(*systems):
    out = io.StringIO()
    csv.writer(out).writerows([COLUMNS, *(row for system in systems for row in system)])
    return out.getvalue().encode()


@pytest.fixture
def campaign():
    return judging_campaign()


def judging_campaign(n=1, splits=None):
    """Return an open campaign in which people judge answers."""
    made = campaign_create(
        slug=f"judged-{Campaign.objects.count()}",
        title="Judged",
        task_type="correctness",
        splits=splits or [NewSplit("judged", n)],
        created_by=None,
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org"),
        now=timezone.now(),
        seed=7,
    )
    campaign_move(campaign=made, to="open", actor_id=None, now=timezone.now())
    return made


def upload(campaign, content, *, name="systems.csv", count=COUNT, who=None):
    """Upload systems on the page; return the job."""
    client = Client()
    client.force_login(who or factories.user(is_admin=True))
    sent = {"file": SimpleUploadedFile(name, content), "count": count}
    answer = client.post(reverse("systems", args=[campaign.slug]), sent)
    assert answer.status_code == 302, answer.content.decode()
    factories.run_jobs()
    return Job.objects.filter(kind="evaluation.systems").latest("created_at")


def judge_all(campaign):
    """Have one person judge all launched answers by the truth."""
    person = factories.annotator(campaign)
    while held := slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment:
        content = Item.objects.get(pk=held.item_id).content
        label = "correct" if content["references"][0] in content["answer"] else "incorrect"
        stage_advance(
            assignment_id=held.pk,
            surrogate_id=person.surrogate_id,
            stage="correctness",
            sent={"label": label},
            version=held.draft_version,
            now=timezone.now(),
        )
        factories.submit(held)
    factories.examine(campaign)


def shown(campaign, role=Role.RESEARCHER):
    person = factories.user()
    factories.join(campaign, person, role)
    client = Client()
    client.force_login(person)
    return client.get(reverse("systems", args=[campaign.slug])).content.decode()


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


def test_two_first_uploads_at_once_have_one_sample(campaign, monkeypatch):
    read, other = services.read_answers, table(answers("other", 0.5))

    def read_slowly(task_type, rows):
        """Read, while another upload is quicker."""
        found = read(task_type, rows)
        monkeypatch.setattr(services, "read_answers", read)
        upload(campaign, table(reversed(list(answers("quick", 0.9)))))
        return found

    monkeypatch.setattr(services, "read_answers", read_slowly)
    job = upload(campaign, other)
    assert job.state == "done" or Job.objects.filter(kind="evaluation.systems", state="done").count() == 1
    Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())
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
    assert "Added later</span>" in text and "Judgments alone</span>" in text


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


def test_columns_that_were_not_used_are_named(campaign):
    lines = table(answers("good", 0.9)).decode().splitlines()
    content = "\n".join([f"{lines[0]},gold", *(f"{line},x" for line in lines[1:])]).encode()
    assert upload(campaign, content).result["notes"] == ["not used: column gold"]
