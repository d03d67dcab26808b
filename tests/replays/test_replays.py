"""Replays of papers by their command, at a small scale.

The replay of the target runs on PostgreSQL, as it includes the paper's process; the others run on SQLite.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Item
from measures.targets import Stop
from quality.experts.services.cases import case_open, case_recall, parts_of
from quality.labels.selectors.audits import label_error_of
from quality.labels.services.waves import waves_due
from quality.models import Audit, Case, CaseReason, CaseState, TargetSnapshot, Verdict
from quality.policies.policy import Policy, Process
from replays.base import Asked, Progress, State
from replays.collecting import Collecting
from replays.pairs import Material
from replays.registry import REPLAYS
from replays.target import _Audited
from tests import factories
from tests.conftest import ROOT
from tests.console.processes import database
from tests.quality.labels.target_worlds import ITEMS, World
from tests.waiting import wait_for


@contextmanager
def prepared(folder, kind, *arguments):
    """Give the command of a replay and its environment, with a database of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "DATABASE"))}
    with database(f"replay_{kind}_{os.getpid()}", folder) as address:
        command = [sys.executable, str(ROOT / "manage.py"), "replay", kind, *arguments, "--json"]
        yield command, kept | {"QUORATE_DATA": str(folder), "DATABASE_URL": address}


def processes_of(folder):
    """Return the processes that work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"QUORATE_DATA={folder}".encode() in (path / "environ").read_bytes().split(b"\0"):
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" "))
    return found


def interrupted(command, environment, until, number):
    """Run a replay until it says something, then send it a signal; return what it said. No process of it may stay."""
    said = []
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            said.append(line)
            if until in line:
                process.send_signal(number)
                break
        process.communicate(timeout=300)
    wait_for(lambda: not processes_of(environment["QUORATE_DATA"]))
    return "".join(said)


def replayed(folder, kind, *arguments, seconds=900, until=()):
    """Run a replay as people do; it is killed whenever it says what is in ``until``. Return its report and what it said."""
    with prepared(folder, kind, *arguments) as (command, environment):
        said = "".join(interrupted(command, environment, words, signal.SIGKILL) for words in until)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout), said + done.stderr


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_antique_is_replayed_from_nothing_to_a_verified_release_though_it_is_killed_on_the_way(tmp_path):
    report, said = replayed(
        tmp_path,
        "antique",
        "--scale",
        "0.002",
        "--seed",
        "2",
        until=["batch 3 of 7 is imported", "waiting until all workers are paid"],
    )
    assert said.count("batch 2 of 7 is imported") == 1  # it was resumed
    assert report["attempts"] == 3
    summary, books = report["summary"], report["books"]
    assert summary["pairs"] == summary["verdicts"] == 63
    assert books["differences"] == []
    assert books["rewards_ours"] == books["rewards_theirs"] <= 2 * (books["assignments"] - summary["refused"])
    account, errands = books["account"], report["errands"]
    assert account["paid"] == books["rewards_ours"] + books["bonuses_ours"]
    assert (account["fees"], account["held"]) == (books["fees_ours"], 0)
    assert report["failed errands"] == 0
    assert errands["publish"] == report["postings"] == books["hits"]
    assert errands["approve"] + errands["reject"] >= books["assignments"]
    assert report["released"]["qrel lines"] == 63 + summary["questions"]
    assert sum(of for _wrong, of in report["wrong by rule"].values()) == 63
    assert summary["judgments"] >= 3 * 63
    assert report["counts"]["requests"] > 5 * summary["judgments"]
    assert 0 < report["counts"]["crowd days"] < 200


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_a_replay_that_is_told_to_end_keeps_what_it_has_measured(tmp_path):
    with prepared(tmp_path, "antique", "--scale", "0.002", "--seed", "2") as (command, environment):
        interrupted(command, environment, "batch 1 of 7 is imported", signal.SIGTERM)
    kept = json.loads(next((tmp_path / "replays").glob("*.json")).read_text())
    assert kept["cpu"]["web"] > 0
    assert kept["seconds"]["collect"] > 0
    assert "requests" in kept["counts"]


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_natural_questions_are_replayed_from_pages_to_the_studies_of_the_paper(tmp_path):
    report, _ = replayed(tmp_path, "nq", "--scale", "0.002", "--seed", "3")
    studies, released = report["studies"], report["released"]
    assert (report["items"], report["study"]) == (16, 4)
    assert report["counts"]["answers"] >= 5 * 16 + 20 * 4
    assert released["official"]["examples"] == 16
    assert sum(path["share"] for path in studies["statistics"]["paths"].values()) == pytest.approx(1)
    assert all("why" not in one for one in studies.values()) and studies["examples"]["items"]
    assert studies["bounds"]["passage"]["items"] == 4
    text = REPLAYS["nq"][1](report)
    for part in ("Figure 2", "Table 2", "Figure 4", "/25 (", "Table 3", "Everything in it is synthetic"):
        assert part in text


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_questions_are_written_reviewed_answered_released_and_scored(tmp_path):
    report, _ = replayed(tmp_path, "nlpcc", "--scale", "0.008", "--seed", "4")
    for task in ("kbqa", "dbqa"):
        one = report[task]
        counts = {(row["asks"], row["outcome"]): row["count"] for row in one["follow_ups"]}
        assert one["questions"] + one["shortfall"] == one["items"] == 8
        assert counts["review", "accept"] + counts["review", "edit"] == one["questions"]
        assert counts["recover", "found"] + counts["recover", "missed"] >= one["questions"]
        assert 0 < max(value for value in one["scored"]["metrics"].values()) <= 1
    assert "answered blind: found" in REPLAYS["nlpcc"][1](report)


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.database
def test_the_paper_s_process_and_a_target_are_run_with_the_same_crowd_and_audited_whatever_is_killed(tmp_path):
    # The first lies in the paper's campaign, the others in the one with a target.
    kills = ["batch 5 of 7: ", "batch 4 of 7: ", "waiting until all workers are paid"]
    report, _ = replayed(tmp_path, "target", "--scale", "0.0012", "--seed", "5", until=kills)
    assert report["attempts"] == 4
    paid = 0
    for name in ("paper", "target"):
        one = report[name]
        assert one["labels"] == report["pairs"] == 38
        assert one["differences"] == []
        assert one["label_error"]["judged"] == 38
        assert one["label_error"]["low"] <= one["label_error"]["share"] <= one["label_error"]["high"]
        assert one["judgments"] >= 3 * 38
        paid += one["paid_cents"]  # from one account
        assert (one["account"]["paid"], one["account"]["held"]) == (paid, 0)
    waves = report["target"]["waves"]
    assert waves["unfinished"] == 0
    assert waves["votes bought"] == waves["slots"] > 0
    assert 3 < waves["most votes"] <= report["target"]["policy"]["target"]["most"]
    assert report["target"]["policy"]["process"] == "target"
    assert report["target"]["stop"] in ("target", "budget", "votes")
    assert "label error, as an audit found it" in REPLAYS["target"][1](report)


def test_a_replay_is_named_by_what_was_asked_for_and_keeps_where_it_stands(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    asked = Asked("antique", 0.005, 7, 60)
    assert asked.slug == "replay-antique-0-005-7"
    state, ran = State.of(asked), []
    assert state.once("step", lambda: ran.append(1) or {"a": 1}) == {"a": 1}
    state.add({"requests": 3})
    with state.phase("collect"):
        state.add({"requests": 4})
    again = State.of(asked)
    assert again.once("step", lambda: ran.append(2)) == {"a": 1}
    assert ran == [1]
    assert (state.attempts, again.attempts) == (1, 2)
    assert (again.counts, again.ports) == ({"requests": 7}, state.ports)
    assert again.seconds["collect"] >= 0


def test_progress_says_how_long_it_will_take(monkeypatch):
    from replays import base

    clock, said = [100.0], []
    monkeypatch.setattr(base.time, "monotonic", lambda: clock[0])
    progress = Progress(said.append, "pairs", 1_000)
    progress.show(100)
    clock[0] += 60
    progress.show(400)
    assert said == ["400 of 1,000 pairs, 2 minutes left"]


class Here(_Audited):
    """A replay whose jobs run while it waits for them."""

    def pause(self):
        factories.run_jobs()


def target_of(campaign, asked):
    return Here(asked, State.of(asked), Material(asked), campaign, print)


@pytest.mark.django_db
def test_a_target_that_was_reached_without_the_last_batch_is_not_reached(settings, tmp_path, now):
    settings.DATA_DIR = tmp_path
    asked = Asked("target", 0.001, 1, 60)
    campaign = factories.antique(items=2, n=3, policy=Policy(process=Process.TARGET))
    replay = target_of(campaign, asked)
    waves_due(now)
    factories.run_jobs()
    known = {"stop": "target", "calibration": 1}
    for items, is_done in ((1, False), (2, True)):
        TargetSnapshot.objects.update_or_create(
            campaign=campaign, defaults={"taken_at": now, "version": "", "data": known | {"item_count": items}}
        )
        assert replay.is_done(2) is is_done


class Slow(Collecting):
    """A replay whose expert reads the first case for so long that the others are recalled."""

    read = 0

    def judge(self, case):
        self.read += 1
        for other in Case.objects.exclude(pk=case.pk).filter(state=CaseState.OPEN):
            case_recall(case=other, actor_id=self.manager, now=timezone.now())
        super().judge(case)


@pytest.mark.django_db
def test_an_expert_skips_a_case_that_is_recalled_while_they_read_another(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    asked = Asked("antique", 0.001, 1, 60)
    material = Material(asked)
    campaign = factories.antique(items=0, n=3)
    factories.import_rows(campaign, list(islice(material.rows(0), 2)))
    for item in Item.objects.filter(campaign=campaign):
        with transaction.atomic():
            case_open(
                item=item,
                because=CaseReason.MANAGER,
                experts=1,
                parts=parts_of(item),
                actor_id=None,
                now=timezone.now(),
            )
    slow = Slow(asked, State.of(asked), material, campaign, print)
    slow.decide()
    assert slow.read == 2
    assert sorted(Case.objects.filter(campaign=campaign).values_list("state", flat=True)) == ["decided", "recalled"]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_target_that_ends_at_its_budget_is_calibrated_before_it_is_measured(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr("quality.labels.selectors.targets.answer_cents", lambda _campaign: 6.0)
    world = World(budget_cents=50, error=0.01, expert_cents=100)
    replay = target_of(world.campaign, Asked("target", 0.001, 1, 60))
    assert world.run()["stop"] == Stop.BUDGET
    assert not replay.is_done(ITEMS)
    assert not replay.is_done(ITEMS)  # drawn once, and its items are before the experts
    calibrating = Audit.objects.get(campaign=world.campaign)
    world.judge(CaseReason.AUDIT)
    assert world.run()["calibration"] == calibrating.pk
    assert replay.is_done(ITEMS)
    measuring = replay._audit("last")
    world.judge(CaseReason.AUDIT)
    assert not replay.is_done(ITEMS)  # nobody has looked at what the experts said
    world.run()
    assert replay.is_done(ITEMS)
    Verdict.objects.filter(item=Item.objects.filter(campaign=world.campaign)[:1]).update(decided_at=timezone.now())
    assert not replay.is_done(ITEMS)  # nor at this label
    assert label_error_of(world.campaign)["audit"] == measuring.pk
