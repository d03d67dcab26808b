"""The faults, and the crowd that works through them."""

import itertools
import os
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack

import psycopg
import redis

from simulation.crowd import Crowd
from tests.concurrency.test_several_machines import ITEMS, PEOPLE, member, set_up
from tests.console.processes import database

PAUSE_SECONDS, FROZEN_SECONDS = 3.0, 4.0
NAMES = ("web 1", "web 2", "worker 1", "worker 2", "beat")


class Drills:
    """Processes as of several machines with a campaign, and what is done to them."""

    def __init__(self, folder):
        self.folder, self.stack, self.people = folder, ExitStack(), []

    def __enter__(self):
        self.address = self.stack.enter_context(database(f"faults_{os.getpid()}", self.folder))
        self.redis = os.environ["REDIS_URL"]
        self.machines = set_up(self.folder, self.address, self.redis, items=ITEMS * 20)
        self.stack.callback(self.machines.stop)
        for name in NAMES:
            self.machines.start(name)
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def run(self, seconds):
        """Have the crowd work while faults happen in turn; return how often each one did."""
        self.people = [member(self.machines, number) for number in range(PEOPLE)]
        crowd = Crowd(self.people, seed=1, threads=6)
        over, happened = threading.Event(), Counter()
        thread = threading.Thread(target=crowd.run, args=(over.is_set,), kwargs={"seconds": seconds + 120})
        thread.start()
        until = time.monotonic() + seconds
        for name, fault in itertools.cycle(self._faults()):
            time.sleep(PAUSE_SECONDS)
            if time.monotonic() > until or not thread.is_alive():
                break
            fault()
            happened[name] += 1
        time.sleep(FROZEN_SECONDS)
        over.set()
        thread.join()
        return happened

    def found(self):
        """Return what was acknowledged and stored, and what doesn't fit."""
        found = self.machines.found()
        stored = found["counted"]
        return {
            "answers acknowledged": sum(one.desk.answers for one in self.people),
            "answers stored": stored,
            # A cut connection can hide that an answer was taken: more may be stored than acknowledged, but of nobody fewer.
            "lost": sum(max(0, one.desk.answers - found["by"].get(one.email, 0)) for one in self.people),
            "doubled": 2 * stored - found["slots of counted"] - found["people and items"],
        }

    def _faults(self):
        for name in NAMES:
            yield f"kill -9: {name}", lambda name=name: self.machines.kill(name)
        for name in ("web 1", "worker 1"):
            yield f"frozen for {FROZEN_SECONDS:.0f} s: {name}", lambda name=name: self._freeze(name)
        yield f"Redis silent for {FROZEN_SECONDS:.0f} s", self._silence_redis
        yield "PostgreSQL ends all connections", self._cut_database

    def _freeze(self, name):
        group = self.machines.processes[name].pid
        os.killpg(group, signal.SIGSTOP)
        time.sleep(FROZEN_SECONDS)
        os.killpg(group, signal.SIGCONT)

    def _silence_redis(self):
        with redis.Redis.from_url(self.redis) as client:
            client.execute_command("CLIENT", "PAUSE", int(FROZEN_SECONDS * 1000), "ALL")
        time.sleep(FROZEN_SECONDS)

    def _cut_database(self):
        with psycopg.connect(self.address, autocommit=True) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
