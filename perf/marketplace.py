"""Throughput and latency of the marketplace over real HTTP: ``python -m perf.marketplace``.

The marketplace runs as its own process (gunicorn, one worker with eight threads) on the database that
MARKETPLACE_DATABASE_URL names (default: SQLite). Clients are unmodified boto3 and plain HTTP forms, on the same cores.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.marketplace_test")

import django

django.setup()

from perf.calibration import calibration
from perf.figures import figures
from tests.marketplace.conftest import HIT
from tests.marketplace.served import served

ROUNDS = 200
HITS = 1_000


def timed(act, count, threads=1):
    """Return (calls a second, median ms, 95th percentile ms) of ``act(number)``."""

    def one(number):
        begun = time.perf_counter()
        act(number)
        return 1000 * (time.perf_counter() - begun)

    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        times = sorted(pool.map(one, range(count)))
    return count / (time.perf_counter() - begun), statistics.median(times), times[int(0.95 * len(times))]


def show(name, figures):
    print(f"{name:<58} {figures[0]:7.1f}/s  median {figures[1]:6.1f} ms  p95 {figures[2]:6.1f} ms", flush=True)


def by_service(marketplace, script):
    """Run a script inside the marketplace's own settings (seeding that HTTP would take too long for)."""
    import subprocess

    environment = marketplace.environment | {"DJANGO_SETTINGS_MODULE": "config.settings.marketplace"}
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from database.sqlite import use_current_sqlite; use_current_sqlite(); import django; django.setup()\n{script}"
    return json.loads(
        subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    )


ACCEPT_AND_SUBMIT = """
import json, statistics, time
from concurrent.futures import ThreadPoolExecutor
from django.db import connections
from django.utils import timezone
from marketplace.models import Hit, Worker
from marketplace.services.assignments import assignment_accept, assignment_submit, submit_secret
from marketplace.services.workers import worker_create
crowd = [worker_create(email=f"p{n}-{time.time()}@example.org", password=None, now=timezone.now(), agreed_at=timezone.now()) for n in range(200)]
hits = list(Hit.objects.filter(state="Assignable").order_by("pk").values_list("hit_id", flat=True)[:200])
def act(number):
    worker, hit = crowd[number], hits[number % len(hits)]
    begun = time.perf_counter()
    mine = assignment_accept(hit_id=hit, worker=worker, now=timezone.now())
    middle = time.perf_counter()
    assignment_submit(secret=submit_secret(mine), fields=[("label", "4")], now=timezone.now())
    return 1000 * (middle - begun), 1000 * (time.perf_counter() - middle)
def run(threads):
    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        times = list(pool.map(act, range(len(crowd))))
    return [len(crowd) / (time.perf_counter() - begun), statistics.median(a for a, _ in times), statistics.median(b for _, b in times)]
print(json.dumps(run(THREADS)))
"""


LIST_PAGE = """
import json, time
from django.test import Client
from django.utils import timezone
from marketplace.services.workers import worker_create
client, now = Client(), timezone.now()
client.force_login(worker_create(email=f"list-{now:%f}@example.org", password=None, now=now, agreed_at=now))
def look(times):
    begun = time.process_time()
    for _ in range(times):
        assert client.get("/", headers={"host": "worker.localhost"}).status_code == 200
    return 1000 * (time.process_time() - begun) / times
look(5)
print(json.dumps(round(look(50), 1)))
"""


def short():
    """Measure what the summary shows: twenty groups of HITs, created eight at a time, and a worker's list of them."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), MARKETPLACE_API_RATE="100000") as marketplace:
        client = marketplace.client(marketplace.requester("perf", "100000"), max_pool_connections=16)
        rate, *_ = timed(lambda n: client.create_hit(**HIT | {"Title": f"Name the port {n % 20}"}), 400, 8)
        listed = by_service(marketplace, LIST_PAGE)
        figures(**{"CreateHIT a second": round(rate, 1), "list page, CPU ms": listed}, **calibration())


def main():
    """Measure and print."""
    if "--short" in sys.argv:
        short()
        return
    database = os.environ.get("MARKETPLACE_DATABASE_URL")
    with tempfile.TemporaryDirectory() as folder:
        options = {"MARKETPLACE_DATABASE_URL": database} if database else {}
        with served(Path(folder), MARKETPLACE_API_RATE="100000", **options) as marketplace:
            made = marketplace.requester(f"perf {datetime.now(UTC):%H%M%S%f}", "100000")
            client = marketplace.client(made, max_pool_connections=16)
            print(f"database: {'PostgreSQL' if database else 'SQLite'}, {os.cpu_count()} cores")
            show("GetAccountBalance, one after another", timed(lambda _: client.get_account_balance(), ROUNDS))
            show("CreateHIT, one after another", timed(lambda _: client.create_hit(**HIT), ROUNDS))
            show("CreateHIT, eight at a time", timed(lambda _: client.create_hit(**HIT), HITS - 2 * ROUNDS, 8))
            timed(lambda _: client.create_hit(**HIT), ROUNDS, 8)
            ids = [
                hit["HITId"]
                for page in client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
                for hit in page["HITs"]
            ]
            print(f"HITs: {len(ids)}")
            for threads in (1, 8):
                rate, accept, submit = by_service(marketplace, ACCEPT_AND_SUBMIT.replace("THREADS", str(threads)))
                print(
                    f"accept + submit through the services, {threads} at a time{'':<13} {rate:7.1f}/s  accept {accept:6.1f} ms  submit {submit:6.1f} ms"
                )
            show(
                f"ListAssignmentsForHIT over {len(ids)} HITs",
                timed(lambda n: client.list_assignments_for_hit(HITId=ids[n]), len(ids)),
            )
            show(
                "ListAssignmentsForHIT, eight at a time",
                timed(lambda n: client.list_assignments_for_hit(HITId=ids[n]), len(ids), 8),
            )
            show(
                "ListHITs, 100 a page, all pages",
                timed(
                    lambda _: list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})), 5
                ),
            )


if __name__ == "__main__":
    main()
