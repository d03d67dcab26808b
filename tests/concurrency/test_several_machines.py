"""Two web processes and two Celery workers on PostgreSQL and Redis under a crowd, one of each killed in the middle."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
import pytest

from console.serving import any_port, wait_until_up
from simulation.crowd import Crowd
from simulation.doors.market import Outcome
from simulation.doors.member import Member
from simulation.people import Habits, Person
from simulation.world import KnownWorld
from tests.conftest import ROOT
from tests.console.processes import database

pytestmark = [pytest.mark.slow, pytest.mark.postgresql, pytest.mark.redis, pytest.mark.database]

ITEMS, VOTES, PEOPLE, PASSWORD = 60, 3, 10, "a crowd of ten people"
SET_UP = f"""
from tests import factories
from replays.synthetic import accounts
campaign = factories.antique(items={ITEMS}, n={VOTES}, slug="machines")
accounts(campaign, "machines", {PEOPLE}, {PASSWORD!r})
"""
# What has to hold of every campaign, however often something was killed.
CHECK = """
import json
from collections import Counter
from annotation.models import Annotation, Assignment, Slot
from quality.models import Verdict
counted = Annotation.objects.filter(state="counted")
print("FOUND", json.dumps({
    "slots": Counter(Slot.objects.values_list("state", flat=True)),
    "counted": counted.count(),
    "slots of counted": counted.values("slot").distinct().count(),
    "people and items": counted.values("item", "surrogate").distinct().count(),
    "verdicts": Verdict.objects.filter(superseded_at=None).count(),
    "items with a verdict": Verdict.objects.filter(superseded_at=None).values("item").distinct().count(),
    "live": Assignment.objects.filter(state="live").count(),
    "unexamined": Annotation.objects.filter(is_examined=False).count(),
    "by": dict(Counter(f"{email}" for email in Annotation.objects.values_list("surrogate__user__email", flat=True))),
}))
"""


class Machines:
    """Processes as several machines would run them, with one database and one broker between them."""

    def __init__(self, environment):
        self.environment, self.processes, self.ports = environment, {}, {"web 1": any_port(), "web 2": any_port()}

    def start(self, name):
        command = [sys.executable, "-m", "celery", "-A", "config.celery"]
        if name in self.ports:
            command = [
                sys.executable,
                "-m",
                "gunicorn",
                "config.wsgi:application",
                "--bind",
                f"127.0.0.1:{self.ports[name]}",
                "--worker-class",
                "gthread",
                "--workers",
                "1",
                "--threads",
                "4",
                "--no-control-socket",
            ]
        elif name == "beat":
            command += ["beat", "--schedule", f"{self.environment['QUORATE_DATA']}/beat", "--pidfile", ""]
        else:
            command += [
                "worker",
                "-P",
                "prefork",
                "-c",
                "1",
                "-n",
                f"{name.replace(' ', '')}@here",
                "-Q",
                "upkeep,bulk",
                "--without-gossip",
                "--without-mingle",
            ]
        self.processes[name] = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if name in self.ports:
            wait_until_up(f"127.0.0.1:{self.ports[name]}", child=self.processes[name])

    def kill(self, name):
        """Cut the power of one, and start it again."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()
        self.start(name)

    def stop(self):
        for process in self.processes.values():
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes.values():
            process.wait(timeout=60)

    def manage(self, *arguments):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def found(self):
        return json.loads(self.manage("shell", "--no-imports", "-v0", "-c", CHECK).partition("FOUND ")[2])


def set_up(folder, address, broker, items=ITEMS):
    """Return machines with a campaign and its people; nothing is started."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "DATABASE"))}
    made = Machines(
        kept
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "QUORATE_DATA": str(folder),
            "DATABASE_URL": address,
            "CELERY_BROKER_URL": broker,
            "C_FORCE_ROOT": "1",
            "QUORATE_JOB_LEASE_SECONDS": "3",
        }
    )
    made.manage("migrate", "-v0")
    made.manage("createcachetable", "-v0")
    made.manage("collectstatic", "-v0", "--no-input")
    made.manage("shell", "--no-imports", "-v0", "-c", SET_UP.replace(f"items={ITEMS}", f"items={items}"))
    return made


@pytest.fixture
def machines(tmp_path, broker):
    with ExitStack() as stack:
        address = stack.enter_context(database(f"machines_{os.getpid()}", tmp_path))
        made = set_up(tmp_path, address, broker)
        stack.callback(made.stop)
        for name in ("web 1", "web 2", "worker 1", "worker 2", "beat"):
            made.start(name)
        yield made


def member(machines, number):
    still = Habits(returns=0, abandons=0, skips=0, twice=0.1, undoes=0, tabs=0.05, leaves=0.1, fatigue=0, drift=0)
    person = Person(1, number, 1.0, np.ones(4) / 4, habits=still)
    url = f"http://localhost:{machines.ports[f'web {1 + number % 2}']}"
    return Member(
        url,
        "machines",
        f"a{number}-machines@crowd.example",
        PASSWORD,
        person,
        KnownWorld((1, 2, 3, 4), {}, otherwise=3),
    )


def _is_examined(found):
    return found["verdicts"] >= ITEMS and not found["unexamined"]


def test_nothing_is_lost_and_nothing_doubled_when_a_web_process_and_a_worker_are_killed(machines):
    people = [member(machines, number) for number in range(PEOPLE)]
    crowd = Crowd(people, seed=1, threads=6)
    kills = [(ITEMS * VOTES // 3, "web 1"), (ITEMS * VOTES // 2, "worker 1")]

    def is_over():
        done = crowd.outcomes[Outcome.HANDED_IN]
        if kills and done >= kills[0][0]:
            machines.kill(kills.pop(0)[1])
        # People who were cut off come back to what they hold.
        return done >= ITEMS * VOTES * 0.9 and not {"open", "held"} & set(machines.found()["slots"])

    assert crowd.run(is_over, seconds=300), crowd.outcomes
    until = time.monotonic() + 90
    # An item can have its verdict while the last of its votes is not examined yet.
    while not _is_examined(found := machines.found()) and time.monotonic() < until:
        time.sleep(1)
    assert not kills
    assert found["slots"] == {"filled": ITEMS * VOTES}
    assert found["counted"] == found["slots of counted"] == found["people and items"] == ITEMS * VOTES
    assert found["verdicts"] == found["items with a verdict"] == ITEMS
    assert (found["live"], found["unexamined"]) == (0, 0)
    for (
        one
    ) in people:  # whatever someone was told is kept is there; at most what the killed server could not tell is more
        assert one.desk.answers <= found["by"].get(one.email, 0) <= one.desk.answers + 1, one.email
