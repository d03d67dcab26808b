"""Annotators at work over HTTP: ``python -m perf.annotators --people 8 --seconds 20``.

Real processes (web server and worker, started as ``manage.py serve`` does), real sessions, htmx requests, a connection
for each annotator; the driver is on the same cores. An ANTIQUE campaign of ``--items`` pairs, three votes each. Each
annotator answers and goes on, after ``--think`` seconds at the most. With ``--whole``, they send all that the page sends:
they reserve the next item, and a click log comes with the answer.

Beside it, before and after, a fixed piece of Python and a fixed piece of SQLite show how fast the machine is just then:
figures of different days are compared by their ratio to those.
"""

import argparse
import gzip
import http.client
import json
import os
import random
import re
import statistics
import sys
import threading
import time

from perf.setup import start

folder = start()

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation.models import Annotation, Item, Slot
from annotation.models.work import FILLING
from console.serving import free_port, start_child, stop_children, wait_until_up, web_command
from perf.calibration import calibration
from perf.claims import annotator, campaign_of
from perf.figures import figures
from replays.ensemble import cpu_seconds_of

NEXT = re.compile(r"/assignments/([0-9a-f-]{36})/stage/")
VERSION = re.compile(r'name="version" value="(\d+)"')
RESERVE = re.compile(r'data-reserve-url="([^"]+)"')
CLICKS = "%5B%5B10%2C%22stage_shown%22%5D%2C%5B1400%2C%22key%22%5D%2C%5B1410%2C%22answer%22%2C3%5D%5D"


class Annotator(threading.Thread):
    """One person with one browser, who works until a moment."""

    def __init__(self, address, campaign, surrogate_id, think, until, *, whole=False):
        super().__init__(daemon=True)
        self.whole = whole
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.slug, self.think, self.until = campaign.slug, think, until
        self.seconds, self.failed = [], 0
        self.random = random.Random(str(surrogate_id))
        client = Client()
        client.force_login(User.objects.get(surrogate_id=surrogate_id))
        self.session = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.csrf = "a" * 32

    def request(self, method, path, **form):
        body = "&".join(f"{name}={value}" for name, value in form.items())
        cookies = f"{settings.SESSION_COOKIE_NAME}={self.session}; {settings.CSRF_COOKIE_NAME}={self.csrf}"
        headers = {
            "Cookie": cookies,
            "X-CSRFToken": self.csrf,
            "HX-Request": "true",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        text = (gzip.decompress(data) if answer.headers.get("Content-Encoding") == "gzip" else data).decode()
        self.failed += answer.status >= 400
        return text

    def begin(self):
        """Ask for the first item."""
        self.page = self.request("POST", f"/work/{self.slug}/")

    def answer(self):
        """Answer the item in hand, keep how long the next took to come, and return whether there was one to answer."""
        found, version = NEXT.search(self.page), VERSION.search(self.page)
        if found is None:
            return False
        begun = time.monotonic()
        clicks = {"events": CLICKS, "sequence": 1} if self.whole else {}
        if self.whole and (reserve := RESERVE.search(self.page)):
            self.request("POST", reserve[1])
        self.page = self.request(
            "POST",
            f"/assignments/{found[1]}/stage/",
            stage="relevance",
            label=self.random.randint(1, 4),
            version=version[1] if version else 0,
            **clicks,
        )
        self.seconds.append(time.monotonic() - begun)
        return True

    def run(self):
        time.sleep(self.random.uniform(0, self.think))  # they do not all come at once
        self.begin()
        while time.monotonic() < self.until:
            if self.think:
                time.sleep(self.random.uniform(self.think / 4, self.think))
                self.connection.close()  # the server does not keep it for so long; a browser opens another too
            if not self.answer():
                return


def database_pid():
    """Return the process of a PostgreSQL server on this machine, if this is one and it says so."""
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int")
        return {"database": cursor.fetchone()[0]}


def log_bytes():
    """Return how much PostgreSQL has written to its log."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")
        return int(cursor.fetchone()[0])


def report(people, pids, used, before, seconds):
    """Return the figures of a run."""
    times = sorted(value for person in people for value in person.seconds)
    labels = len(times)

    def at(share):
        return round(1000 * times[min(labels - 1, int(share * labels))])

    over = (
        [
            item.pk
            for item in Item.objects.all().iterator()
            if Annotation.objects.filter(item=item, state__in=FILLING).count() > item.n
        ]
        if Item.objects.count() <= 20_000
        else None
    )
    return {
        "people": len(people),
        "labels": labels,
        "labels_per_second": round(labels / seconds, 1),
        "cpu_ms_per_label": {name: round(1000 * (used[name] - before[name]) / labels, 1) for name in pids},
        "ms": {
            "p50": at(0.5),
            "p95": at(0.95),
            "p99": at(0.99),
            "max": at(1),
            "mean": round(1000 * statistics.mean(times)),
        },
        "failed": sum(person.failed for person in people),
        "items_over_n": len(over) if over is not None else "not counted",
        "filled": Slot.objects.filter(state="filled").count(),
        "database": connection.vendor,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--people", type=int, default=8)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--items", type=int, default=10_000)
    options.add_argument("--think", type=float, default=0.0, metavar="SECONDS")
    options.add_argument("--whole", action="store_true")
    chosen = options.parse_args()
    campaign = campaign_of(chosen.items, "antique")
    surrogates = [annotator(campaign) for _ in range(chosen.people)]
    address = f"127.0.0.1:{free_port(18_600)}"
    environment = {**os.environ, "PLATFORM_URL": f"http://{address}", "QUORATE_DATA": folder}
    machine = [calibration()]
    children = {"web": start_child(web_command(address), environment)}
    children["worker"] = start_child([sys.executable, "manage.py", "worker"], environment)
    try:
        wait_until_up(address)
        begun = time.monotonic()
        until = begun + chosen.seconds
        people = [Annotator(address, campaign, one, chosen.think, until, whole=chosen.whole) for one in surrogates]
        pids = {name: child.pid for name, child in children.items()} | database_pid()
        before = {name: cpu_seconds_of(pid) for name, pid in pids.items()}
        written = log_bytes()
        begun = time.monotonic()
        for person in people:
            person.start()
        for person in people:
            person.join(chosen.seconds + 120)
        seconds = time.monotonic() - begun
        used = {name: cpu_seconds_of(pid) for name, pid in pids.items()}
        found = report(people, pids, used, before, seconds)
        found["log_kb_per_label"] = round((log_bytes() - written) / 1024 / found["labels"], 1)
    finally:
        stop_children(list(children.values()))
    machine.append(calibration())
    print(json.dumps({"at": f"{timezone.now():%Y-%m-%d %H:%M}", **found, "machine": machine}, indent=1))
    cpu, ms = found["cpu_ms_per_label"], found["ms"]
    figures(
        **{
            "labels a second": found["labels_per_second"],
            "CPU ms a label, web": cpu["web"],
            "CPU ms a label, worker": cpu["worker"],
            **{f"{name} ms": ms[name] for name in ("p50", "p95", "max")},
            "failed": found["failed"],
            "items over n": found["items_over_n"],
            **{name: round(statistics.mean(one[name] for one in machine)) for name in ("rounds", "commits")},
        }
    )


if __name__ == "__main__":
    main()
