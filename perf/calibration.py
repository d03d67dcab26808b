"""How fast the machine is just now: figures of different days are compared by their ratio to this."""

import sqlite3
import tempfile
import time


def calibration() -> dict[str, int]:
    """Return how many rounds of a fixed piece of Python, and of durable SQLite transactions, fit into a second."""
    begun, rounds = time.perf_counter(), 0
    while time.perf_counter() - begun < 1:
        sum(len(str(number)) for number in range(1_000))
        rounds += 1
    with tempfile.TemporaryDirectory() as place:
        base = sqlite3.connect(f"{place}/x.sqlite3", isolation_level=None)
        base.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (a INTEGER, b TEXT)")
        begun, commits = time.perf_counter(), 0
        while time.perf_counter() - begun < 1:
            base.execute("BEGIN IMMEDIATE")
            for number in range(5):
                base.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 200))
            base.execute("COMMIT")
            commits += 1
        base.close()
    return {"rounds": rounds, "commits": commits}
