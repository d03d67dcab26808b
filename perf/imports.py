"""What importing pairs and launching them costs, beside what cannot be avoided: ``python -m perf.imports [--pairs N]``.

CPU seconds of this process and of the one that reads the file, peak memory of this one. The floors: compressing the
same bytes, and inserting bare rows of the same size with three unique columns, as durably.
"""

import argparse
import gzip
import json
import resource
import shutil
import sqlite3
import time
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from django.utils import timezone

from annotation.models import Batch, Item, Slot
from annotation.rows import read_rows
from annotation.services.campaigns import ConsentPlan, SplitPlan, campaign_create
from annotation.services.items import items_import
from annotation.services.slots import batch_launch
from jobs.models import Job
from jobs.work import Work
from perf.calibration import calibration
from perf.figures import figures


def write_pairs(path, count):
    """Write a file of pairs, thirteen answers a question, as large as those of nfL6."""
    with path.open("w") as file:
        for number in range(count):
            question = 100_000 + number // 13
            pair = {
                "question_id": str(question), "question": f"how do i clean thing {question} without damaging it?",
                "answer_id": f"{question}_{number % 13}", "answer": f"Use warm water {number} and a soft cloth. " * 6,
                "possibly_correct_id": f"{question}_best", "possibly_correct_answer": "Use vinegar. " * 12,
                "category": "Home",
            }  # fmt: skip
            file.write(f"{json.dumps(pair)}\n")


def work():
    """Return a running job to import or launch in."""
    now = timezone.now()
    return Work(
        Job.objects.create(
            kind="perf", lane="bulk", payload={}, state="running", attempt=1, due_at=now, created_at=now,
            lease_until=now,
        )
    )  # fmt: skip


def cpu():
    """Return the CPU seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [one.ru_utime + one.ru_stime for one in used]


def measured(name, act):
    """Run something and print what it cost."""
    before, begun = cpu(), time.perf_counter()
    act()
    own, child = (round(after - earlier, 2) for after, earlier in zip(cpu(), before, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = round(time.perf_counter() - begun, 2)
    print(json.dumps({name: {"seconds": seconds, "cpu": own, "cpu_reader": child, "peak_mb": peak}}), flush=True)
    figures(**{f"{name}, s": seconds, f"{name}, CPU s": round(own + child, 2), "peak MB": peak})


def bare_inserts(rows):
    """Insert rows of the same text into a table of their own."""
    base = sqlite3.connect(FOLDER / "bare.sqlite3", isolation_level=None)
    base.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (a UNIQUE, b UNIQUE, c UNIQUE, d)"
    )
    for begin in range(0, len(rows), 2_000):
        base.execute("BEGIN IMMEDIATE")
        base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows[begin : begin + 2_000])
        base.execute("COMMIT")
    base.close()


def main():
    """Import, launch, and the floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=34_011)
    path, count = FOLDER / "pairs.jsonl", parser.parse_args().pairs
    write_pairs(path, count)
    campaign = campaign_create(
        slug="imports", title="Imports", task_type="antique", splits=[SplitPlan("train", 3, 9), SplitPlan("test", 3, 1)],
        consent=ConsentPlan("To measure.", "Nothing.", "perf@example.org"), created_by=None, now=timezone.now(), seed=7,
    )  # fmt: skip
    machine = calibration()
    print(json.dumps({"pairs": count, "bytes": path.stat().st_size, "calibration": machine}), flush=True)
    figures(**machine)

    def load():
        with path.open("rb") as file:
            items_import(
                work=work(), campaign=campaign, rows=read_rows(file, path.name), pilot=False, good_rows_only=False
            )

    measured("import", load)
    batch = Batch.objects.get(pk=Item.objects.values_list("batch", flat=True)[0])
    measured("launch", lambda: batch_launch(work=work(), batch=batch, actor_id=None))
    assert Slot.objects.count() == 3 * count

    def compress():
        with path.open("rb") as file, gzip.open(FOLDER / "pairs.gz", "wb", 6) as packed:
            shutil.copyfileobj(file, packed)

    measured("floor: gzip", compress)
    rows = [(f"a{number}", f"b{number}", f"c{number}", "x" * 600) for number in range(min(count, 100_000))]
    measured("floor: bare inserts", lambda: bare_inserts(rows))


if __name__ == "__main__":
    main()
