"""The job row is the truth: leases, fences, retries, one unfinished job a key."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Scope
from jobs.models import Job
from jobs.registry import JobKind, Lane, kinds, sweeps
from jobs.services import (
    job_enqueue,
    job_failed_lately,
    job_retry,
    job_run,
    job_stop,
    job_take,
    jobs_announce_due,
    jobs_due,
    jobs_forget,
    jobs_run_due,
)
from jobs.ticks import Clock, tick
from jobs.work import LeaseLost, RetryLater

pytestmark = pytest.mark.django_db


@pytest.fixture
def kind():
    name = "tests.job"

    def register(handler):
        kinds()[name] = JobKind(name, handler, Lane.UPKEEP)
        return name

    yield register
    kinds().pop(name, None)


def test_a_job_runs_once_and_keeps_its_result(kind, now):
    job = job_enqueue(kind=kind(lambda work: {"sum": work.job.payload["a"] + 1}), payload={"a": 1}, now=now)
    assert jobs_run_due() == 1
    assert jobs_run_due() == 0
    job.refresh_from_db()
    assert (job.state, job.result, job.attempt) == ("done", {"sum": 2}, 1)


def test_the_same_key_gives_the_same_unfinished_job(kind, now):
    name = kind(lambda work: {})
    first = job_enqueue(kind=name, payload={}, now=now, key="k")
    assert job_enqueue(kind=name, payload={}, now=now, key="k").pk == first.pk
    jobs_run_due()
    assert job_enqueue(kind=name, payload={}, now=now, key="k").pk != first.pk


def test_an_attempt_whose_lease_went_to_another_has_no_effect(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    old = job_take(job_id=job.pk, now=timezone.now())
    new = job_take(job_id=job.pk, now=timezone.now() + timedelta(minutes=5))
    with pytest.raises(LeaseLost), old.step(done=1):
        Job.objects.filter(pk=job.pk).update(message="should not stand")
    with new.step(done=2, next=2):
        pass
    job.refresh_from_db()
    assert (job.done, job.message, job.result) == (2, "", {"next": 2})


def test_a_step_beside_others_has_no_effect_once_the_lease_went_to_another(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    old = job_take(job_id=job.pk, now=timezone.now())
    with old.step_beside():
        Job.objects.filter(pk=job.pk).update(message="stands")
    job_take(job_id=job.pk, now=timezone.now() + timedelta(minutes=5))
    with pytest.raises(LeaseLost), old.step_beside():
        Job.objects.filter(pk=job.pk).update(message="should not stand")
    job.refresh_from_db()
    assert (job.attempt, job.message) == (2, "stands")


def test_a_running_job_is_not_taken_before_its_lease_ends(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    assert job_take(job_id=job.pk, now=timezone.now())
    assert job_take(job_id=job.pk, now=timezone.now()) is None
    assert jobs_due(now=timezone.now() + timedelta(minutes=5), limit=9) == [job.pk]


def test_a_passing_failure_is_tried_again_later_and_another_is_not(kind, now):
    def handler(work):
        if work.job.payload["passing"]:
            raise RetryLater("storage is away")
        raise ValueError("page 3 is wrong")

    name = kind(handler)
    passing = job_enqueue(kind=name, payload={"passing": True}, now=now)
    final = job_enqueue(kind=name, payload={"passing": False}, now=now)
    jobs_run_due()
    passing.refresh_from_db(), final.refresh_from_db()
    assert (passing.state, passing.error) == ("queued", "storage is away")
    assert passing.due_at > timezone.now()
    assert (final.state, final.error) == ("failed", "page 3 is wrong")
    job_retry(job_id=final.pk, now=now)
    final.refresh_from_db()
    assert final.state == "queued"


def test_a_job_that_kills_every_worker_fails_in_the_end(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    Job.objects.filter(pk=job.pk).update(attempt=5, stalled=5, state="running", lease_until=now - timedelta(seconds=1))
    assert job_run(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "ended every attempt" in job.error


def test_an_unknown_kind_is_refused_at_once(now):
    with pytest.raises(KeyError, match="no app lists"):
        job_enqueue(kind="nobody.does", payload={}, now=now)


def test_a_sweep_that_fails_does_not_stop_the_others(now, caplog, monkeypatch):
    def broken(at):
        raise RuntimeError("broken")

    called = []
    monkeypatch.setattr("jobs.ticks.sweeps", lambda: [broken, called.append])
    assert tick(now=now, clock=Clock())
    assert called == [now]
    assert "broken failed" in caplog.text


def test_sweeps_wait_after_the_clock_jumped(now, monkeypatch):
    called, clock = [], Clock()
    monkeypatch.setattr("jobs.ticks.sweeps", lambda: [called.append])
    day = timedelta(days=1)
    assert tick(now=now, steady=0, clock=clock)
    assert not tick(now=now + 3 * day, steady=5, clock=clock)
    assert not tick(now=now + 3 * day + timedelta(seconds=200), steady=205, clock=clock)
    assert not tick(now=now + timedelta(seconds=210), steady=210, clock=clock)  # put right again: a jump back
    assert tick(now=now + timedelta(seconds=600), steady=600, clock=clock)
    assert called == [now, now + timedelta(seconds=600)]


def test_a_lease_that_a_wrong_clock_gave_holds_nobody_up(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    assert job_take(job_id=job.pk, now=now + timedelta(days=3))  # due, and its lease ends in three days
    assert jobs_due(now=timezone.now(), limit=9) == [job.pk]


def test_a_transient_error_of_the_database_is_tried_again_and_progress_resets_the_count(kind, now):
    def handler(work):
        if work.attempt < 8:
            if work.attempt % 2:
                with work.step(done=work.attempt):
                    pass
            raise OperationalError("database is locked")
        return {"attempts": work.attempt}

    job = job_enqueue(kind=kind(handler), payload={}, now=now)
    for _ in range(8):
        Job.objects.filter(pk=job.pk).update(due_at=now)
        jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", {"attempts": 8})


def test_without_progress_transient_errors_end_a_job_with_a_sentence(kind, now):
    def handler(work):
        raise OperationalError("database is locked")

    job = job_enqueue(kind=kind(handler), payload={}, now=now)
    for _ in range(7):
        Job.objects.filter(pk=job.pk).update(due_at=now)
        jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The database could not be reached or was busy.")


def test_a_failure_that_nobody_foresaw_is_a_sentence_and_no_traceback(kind, now, caplog):
    def handler(work):
        with work.step(done=3):
            pass
        return work.job.payload["missing"]

    job = job_enqueue(kind=kind(handler), payload={}, now=now)
    jobs_run_due()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "Traceback" not in job.error
    assert "trying again goes on from there" in job.error
    assert "KeyError: 'missing'" in caplog.text


def test_a_worker_that_is_told_to_stop_leaves_its_job_to_the_next(kind, now, monkeypatch):
    stopping = threading.Event()
    monkeypatch.setattr("jobs.work.STOPPING", stopping)

    def handler(work):
        for number in range(int(work.job.result.get("next", 0)), 5):
            with work.step(done=number + 1, next=number + 1):
                if number == 2:
                    stopping.set()
        return {}

    job = job_enqueue(kind=kind(handler), payload={}, now=now)
    jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.done, job.error) == ("queued", 3, "")
    stopping.clear()
    jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", 5)


def test_what_a_job_needed_is_kept_for_whoever_took_it_over(kind, now):
    """An attempt that lost its lease after its last step must not delete the upload that the next attempt reads."""
    cleaned, name = [], "tests.job"

    def handler(work):
        if work.attempt == 1:
            Job.objects.filter(pk=work.job.pk).update(attempt=2)  # as another worker does
        return {}

    kind(handler)
    kinds()[name] = JobKind(name, handler, Lane.BULK, cleaned.append)
    job = job_enqueue(kind=name, payload={"file": "upload"}, now=now)
    jobs_run_due()
    assert cleaned == []
    Job.objects.filter(pk=job.pk).update(lease_until=now - timedelta(seconds=1))
    jobs_run_due()
    assert cleaned == [{"file": "upload"}]


def test_a_sweep_does_not_ask_again_at_once_for_what_has_just_failed(kind, now):
    def handler(work):
        raise ValueError("no")

    job_enqueue(kind=kind(handler), payload={}, now=now, key="k")
    assert not job_failed_lately(key="k", now=timezone.now())
    jobs_run_due()
    assert job_failed_lately(key="k", now=timezone.now())
    assert not job_failed_lately(key="k", now=timezone.now() + timedelta(minutes=6))


def test_failed_imports_are_forgotten_with_their_uploads_and_failed_releases_are_not(kind, now):
    cleaned, name = [], kind(lambda work: {})
    kinds()[name] = JobKind(name, lambda work: {}, Lane.BULK, cleaned.append)
    long_ago = now - timedelta(days=31)
    for wanted in (name, "exports.write"):
        Job.objects.create(
            kind=wanted,
            lane="bulk",
            state="failed",
            finished_at=long_ago,
            due_at=now,
            created_at=now,
            payload={"file": wanted},
        )
    jobs_forget(now)
    assert cleaned == [{"file": name}]
    assert [job.kind for job in Job.objects.all()] == ["exports.write"]


def test_each_lane_is_taken_alone(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    assert jobs_run_due(lanes=[Lane.BULK, Lane.MARKETPLACE]) == 0
    assert jobs_run_due(lanes=[Lane.UPKEEP]) == 1
    job.refresh_from_db()
    assert job.state == "done"


def test_campaigns_take_turns(kind, now):
    name = kind(lambda work: {})
    many, few = Scope.objects.create().pk, Scope.objects.create().pk
    wanted = [
        job_enqueue(kind=name, payload={}, scope_id=scope, now=now + timedelta(seconds=number)).pk
        for number, scope in enumerate([many, many, many, few])
    ]
    later = now + timedelta(minutes=1)
    assert jobs_due(now=later, limit=9) == [wanted[0], wanted[3], wanted[1], wanted[2]]


def test_a_job_that_was_stopped_ends_at_its_next_step_and_can_be_tried_again(kind, now):
    def run(work):
        for number in range(work.job.done, 5):
            with work.step(done=number + 1):
                pass
            if number == 2 and work.attempt == 1:
                job_stop(job_id=work.job.pk, now=timezone.now())
        return {"ended": True}

    job = job_enqueue(kind=kind(run), payload={}, now=now)
    jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.done, job.error[:8]) == ("failed", 3, "Stopped.")
    assert not job_stop(job_id=job.pk, now=now)
    job_retry(job_id=job.pk, now=timezone.now())
    jobs_run_due()
    job.refresh_from_db()
    assert (job.state, job.done, job.result) == ("done", 5, {"ended": True})


def test_a_job_that_nobody_takes_is_announced_ever_more_rarely(kind, now, settings, monkeypatch):
    sent = []
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr("celery.Celery.send_task", lambda *args, **kwargs: sent.append(kwargs["queue"]))
    job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    for minute in range(60):
        jobs_announce_due(now=now + timedelta(minutes=minute))
    assert 3 <= len(sent) <= 12
    assert set(sent) == {"upkeep"}


def test_several_jobs_of_lanes_are_listed_by_their_apps():
    assert kinds()["annotation.import_items"].lane == Lane.BULK
    assert kinds()["quality.examine"].lane == Lane.UPKEEP
    assert kinds()["workforces.marketplace"].lane == Lane.MARKETPLACE
    assert {sweep.__name__ for sweep in sweeps()} >= {"assignments_expire", "examine_due", "rounds_due", "jobs_forget"}
