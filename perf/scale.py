"""What grows with a campaign, and what does not: ``python -m perf.scale --items 1000 [--judged N]``.

One campaign with this number of pairs, some with their three votes and a label: importing and launching it, the first
item of a newcomer and an answer with the next item over HTTP, the pages of managers, a refresh of their numbers, and a
release in a process of its own. Run it on an empty database for each size.
"""

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Campaign
from console.serving import free_port, start_child, stop_children, wait_until_up, web_command
from perf.annotators import Annotator
from perf.calibration import calibration
from perf.campaigns import created, pairs_import, pairs_judge, pairs_launch, pairs_vote, write_pairs
from perf.claims import annotator
from perf.figures import measured
from perf.peak import run
from quality.dashboard.services import quality_numbers_refresh

NEWCOMERS, WARM_UP, ANSWERS = 40, 20, 300
PAGES = ("", "summary/", "policy/", "members/", "review/", "items/", "releases/", "plan/")
TABLES = ("annotation_item", "annotation_slot", "annotation_annotation")


def at(seconds: Sequence[float]) -> list[float]:
    """Return the median and the 95th percentile in milliseconds."""
    return [round(1000 * value, 1) for value in (statistics.median(seconds), sorted(seconds)[int(0.95 * len(seconds))])]


def people(campaign: Campaign) -> dict[str, list[float]]:
    """Return how long newcomers wait for their first item, and one of them for each next one."""
    address = f"127.0.0.1:{free_port(18_800)}"
    come = [Annotator(address, campaign, annotator(campaign), 0.0, math.inf) for _ in range(NEWCOMERS)]
    environment = {**os.environ, "PLATFORM_URL": f"http://{address}", "QUORATE_DATA": str(FOLDER)}
    child, first = start_child(web_command(address), environment), []
    try:
        wait_until_up(address)
        for one in come:
            begun = time.perf_counter()
            one.begin()
            first.append(time.perf_counter() - begun)
        veteran = come[-1]
        for _ in range(WARM_UP + ANSWERS):
            assert veteran.answer(), "nothing left to answer"
    finally:
        stop_children([child])
    assert not any(one.failed for one in come)
    return {"first item": at(first), "answer and next": at(veteran.seconds[WARM_UP:])}


def managers(campaign: Campaign) -> dict[str, list[float]]:
    """Return how long each page of managers takes, by Django's test client."""
    boss = User.objects.create_user("boss@example.org", "long enough secret", name="Boss", is_admin=True)
    client, found = Client(SERVER_NAME="localhost"), {}
    client.force_login(boss)
    for path in PAGES:
        times = []
        for _ in range(20):
            begun = time.perf_counter()
            assert client.get(f"/campaigns/{campaign.slug}/{path}").status_code == 200, path
            times.append(time.perf_counter() - begun)
        found[path or "overview"] = at(times)
    return found


def refreshed(campaign: Campaign) -> None:
    """Compute the numbers of the pages again."""
    numbers_refresh(campaign=campaign, now=timezone.now())
    quality_numbers_refresh(campaign=campaign, now=timezone.now())


def bytes_of(tables: Sequence[str]) -> dict[str, int]:
    """Return how large some tables are with their indexes (PostgreSQL)."""
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT t, pg_total_relation_size(t::regclass) FROM unnest(%s::text[]) AS t", [list(tables)])
        return dict(cursor.fetchall())


def main() -> None:
    """Make a campaign and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument(
        "--judged", type=int, help="items with three votes and a label (default: half, 100,000 at most)"
    )
    chosen = parser.parse_args()
    judged = chosen.judged or min(chosen.items // 2, 100_000)
    campaign, path = created("scale"), FOLDER / "pairs.jsonl"
    write_pairs(path, chosen.items)
    call_command("collectstatic", verbosity=0, interactive=False)
    found = {"items": chosen.items, "judged": judged, "database": connection.vendor, "machine": [calibration()]}
    found["import"] = measured("import", lambda: pairs_import(campaign, path))
    found["launch"] = measured("launch", lambda: pairs_launch(campaign))
    pairs_vote(campaign, judged)
    found["judge"] = measured("judge", lambda: pairs_judge(campaign, judged))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as the server does by itself, if it is given the time
    found["people"] = people(campaign)
    refreshed(campaign)  # the first one of a process computes what never changes besides
    found["numbers"] = measured("numbers", lambda: refreshed(campaign))
    found["managers"] = managers(campaign)
    ran = run(
        "manage.py", "release", campaign.slug, "--format", "antique", "--to", FOLDER / "out", environment={**os.environ}
    )
    assert ran.status == 0, ran.said[-2_000:]
    found["release"] = {"seconds": round(ran.wall, 2), "cpu": round(ran.cpu, 2), "peak_mb": ran.peak}
    found["bytes"] = bytes_of(TABLES)
    found["machine"].append(calibration())
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
