"""The job row is the truth: leases, fences, retries, one unfinished job a key."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Job
from jobs.registry import HANDLERS, handles
from jobs.services import job_enqueue, job_retry, job_run, job_take, jobs_due, jobs_run_due
from jobs.ticks import on_tick, tick
from jobs.work import LeaseLost, RetryLater

pytestmark = pytest.mark.django_db


@pytest.fixture
def kind():
    name = "tests.job"

    def register(handler):
        handles(name)(handler)
        return name

    yield register
    HANDLERS.pop(name, None)


def test_a_job_runs_once_and_keeps_its_result(kind, now):
    job = job_enqueue(kind=kind(lambda work: {"sum": work.payload["a"] + 1}), payload={"a": 1}, now=now)
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


def test_a_running_job_is_not_taken_before_its_lease_ends(kind, now):
    job = job_enqueue(kind=kind(lambda work: {}), payload={}, now=now)
    assert job_take(job_id=job.pk, now=timezone.now())
    assert job_take(job_id=job.pk, now=timezone.now()) is None
    assert jobs_due(now=timezone.now() + timedelta(minutes=5), limit=9) == [job.pk]


def test_a_passing_failure_is_tried_again_later_and_another_is_not(kind, now):
    def handler(work):
        if work.payload["passing"]:
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
    Job.objects.filter(pk=job.pk).update(attempt=5, state="running", lease_until=now - timedelta(seconds=1))
    assert job_run(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "ended every attempt" in job.error


def test_an_unknown_kind_is_refused_at_once(now):
    with pytest.raises(KeyError, match="no handler"):
        job_enqueue(kind="nobody.does", payload={}, now=now)


def test_a_sweep_that_fails_does_not_stop_the_others(now, caplog):
    from jobs import ticks

    called = []
    before = list(ticks._SWEEPS)
    try:

        @on_tick
        def broken(at):
            raise RuntimeError("broken")

        on_tick(called.append)
        tick(now=now)
    finally:
        ticks._SWEEPS[:] = before
    assert called == [now]
    assert "broken failed" in caplog.text
