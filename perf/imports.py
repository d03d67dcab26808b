"""What importing pairs and launching them costs, beside what cannot be avoided: ``python -m perf.imports [--pairs N]``.

CPU seconds of this process and of the one that reads the file, peak memory of this one. The floors: compressing the
same bytes, and inserting bare rows of the same size with three unique columns, as durably.
"""

import argparse
import gzip
import json
import shutil
import sqlite3
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from annotation.models import Slot
from perf.calibration import calibration
from perf.campaigns import created, pairs_import, pairs_launch, write_pairs
from perf.figures import figures, measured


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
    campaign = created("imports")
    machine = calibration()
    print(json.dumps({"pairs": count, "bytes": path.stat().st_size, "calibration": machine}), flush=True)
    figures(**machine)
    measured("import", lambda: pairs_import(campaign, path))
    measured("launch", lambda: pairs_launch(campaign))
    assert Slot.objects.count() == 3 * count

    def compress():
        with path.open("rb") as file, gzip.open(FOLDER / "pairs.gz", "wb", 6) as packed:
            shutil.copyfileobj(file, packed)

    measured("floor: gzip", compress)
    rows = [(f"a{number}", f"b{number}", f"c{number}", "x" * 600) for number in range(min(count, 100_000))]
    measured("floor: bare inserts", lambda: bare_inserts(rows))


if __name__ == "__main__":
    main()
