"""A worker that has nothing to do waits for word of work."""

import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import wakeups
from jobs.management.commands import worker
from jobs.models import Job
from jobs.registry import Lane
from jobs.services import job_enqueue
from jobs.ticks import tick
from tests import factories
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
MOST_STATEMENTS = 400  # of an idle worker in a minute; asking five times a second took 900 for each lane


class Sleeper:
    """An event that nobody sets, and that keeps how long was waited for it."""

    def __init__(self):
        self.waited = 0.0

    def clear(self):
        pass

    def wait(self, seconds):
        self.waited += seconds
        return False


class Watched:
    """An event that tells by another one that someone waits for it."""

    def __init__(self, event, waits):
        self.clear, self._wait, self._waits = event.clear, event.wait, waits

    def wait(self, seconds):
        self._waits.set()
        return self._wait(seconds)


def test_an_idle_worker_asks_the_database_seldom():
    tick(now=timezone.now())  # what is read once for all is read
    with CaptureQueriesContext(connection) as asked:
        for lane in Lane:
            sleeper = Sleeper()
            look = worker._lane(lane, sleeper, 5.0)
            while sleeper.waited < 60:
                look()
        for _ in range(12):
            tick(now=timezone.now())
    assert 12 < len(asked) < MOST_STATEMENTS


def test_the_pause_between_two_looks_grows_and_is_short_again_after_work():
    sleeper = Sleeper()
    look = worker._lane(Lane.UPKEEP, sleeper, 5.0)
    pauses = []
    for number in range(8):
        if number == 7:
            job_enqueue(kind="quality.examine", payload={"campaign": str(factories.campaign().pk)}, now=timezone.now())
            look()
        before = sleeper.waited
        look()
        pauses.append(round(sleeper.waited - before, 1))
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2]


def test_word_of_a_job_wakes_a_worker_that_would_look_in_an_hour(monkeypatch):
    monkeypatch.setattr(worker, "FIRST_PAUSE_SECONDS", 3600)
    campaign = factories.campaign()
    stopping, sleeper, waits = threading.Event(), threading.Event(), threading.Event()
    look = worker._lane(Lane.UPKEEP, Watched(sleeper, waits), 3600)

    def work():
        while not stopping.is_set():
            look()
        connection.close()

    def listen():
        wakeups.watch(stopping, [sleeper])
        connection.close()

    threads = [threading.Thread(target=work), threading.Thread(target=listen)]
    for thread in threads:
        thread.start()
    try:
        for number in range(3):
            assert waits.wait(60)
            job = job_enqueue(
                kind="annotation.numbers", payload={"campaign": str(campaign.pk)}, now=timezone.now(), key=f"{number}"
            )
            wait_for(lambda pk=job.pk: Job.objects.filter(pk=pk, state="done").exists())
    finally:
        stopping.set()
        for thread in threads:
            thread.join(60)


def test_whoever_waits_is_woken_when_it_is_time_to_stop():
    stopping, sleeper = threading.Event(), threading.Event()
    stopping.set()
    wakeups.watch(stopping, [sleeper])
    assert sleeper.is_set()


def test_a_worker_that_missed_the_last_word_does_not_wait_any_more(monkeypatch):
    monkeypatch.setattr(worker, "STOPPING", stopping := threading.Event())
    stopping.set()
    sleeper = Sleeper()
    worker._lane(Lane.UPKEEP, sleeper, 3600)()
    assert sleeper.waited == 0


def test_a_word_that_cannot_be_said_is_no_failure(monkeypatch, caplog):
    monkeypatch.setitem(connection.settings_dict, "NAME", "/nowhere/at/all")
    if connection.vendor == "postgresql":
        monkeypatch.setattr(wakeups, "CHANNEL", "no channel")
    wakeups.workers_wake()
    assert "will find it" in caplog.text
