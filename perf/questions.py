"""What the web process spends on a question of three stages: ``python -m perf.questions [--items N]``.

An annotator's requests, sent in this process by Django's test client: the three answers, the reservation of the next item
and a piece of the event log. The page is a real one of the shared data if it is there, else a generated one.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perf.setup import ROOT, start

start()

from django.core.management import call_command
from django.test import Client

from annotation.models import Assignment
from documents.html.canonical import canonical_text
from perf.calibration import calibration
from perf.figures import figures
from tests import factories

REAL = ROOT.parent / "shared/data/nq-html"
HTMX = {"HTTP_HX_REQUEST": "true"}


def page() -> str:
    """Return the page that the questions are about."""
    real = sorted(REAL.glob("*.html"))
    return canonical_text(Path(real[0]).read_bytes()) if real else factories.PAGE


def main() -> None:
    """Annotate, and print the CPU of each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=60)
    items = parser.parse_args().items
    call_command("createcachetable")
    call_command("collectstatic", verbosity=0, interactive=False)
    campaign = factories.campaign()
    factories.import_page(campaign, page(), "page.html")
    rows = [{"id": str(n), "question": f"who built harbour {n}", "document": "page.html"} for n in range(items)]
    factories.import_rows(campaign, rows)
    factories.launch(campaign)
    person, client = factories.annotator(campaign), Client(SERVER_NAME="localhost")
    client.force_login(person)
    spent = defaultdict[str, list[float]](list)

    def timed(name: str, ask: Callable[..., Any], *asked: Any, **options: Any) -> None:
        begun = time.process_time()
        answered = ask(*asked, **options)
        spent[name].append(1000 * (time.process_time() - begun))
        assert answered.status_code in (200, 204), (name, answered.status_code)

    desk = f"/work/{campaign.slug}/"
    client.post(desk, **HTMX)
    for _ in range(items - 1):
        held = Assignment.objects.get(surrogate_id=person.surrogate_id, state="live")
        own, version = f"/assignments/{held.pk}", held.draft_version
        log = {"data": '{"sequence": 0, "events": [[1, "focus", ""]]}', "content_type": "application/json"}
        timed(
            "question", client.post, f"{own}/stage/", {"stage": "question", "label": "good", "version": version}, **HTMX
        )
        timed("reserve", client.post, f"{desk}reserve/", **HTMX)
        timed("events", client.post, f"{own}/events/", **log, **HTMX)
        box = {"stage": "long_answer", "candidate_index": "0", "version": version + 1}
        timed("long answer", client.post, f"{own}/stage/", box, **HTMX)
        short = {"stage": "short_answer", "kind": "none", "version": version + 2}
        timed("short answer", client.post, f"{own}/stage/", short, **HTMX)
    medians = {name: statistics.median(times) for name, times in spent.items()}
    for name, median in medians.items():
        print(f"{name}: {median:.1f} ms of CPU")
    figures(**{"CPU ms a question": round(sum(medians.values()), 1)}, **calibration())


if __name__ == "__main__":
    main()
