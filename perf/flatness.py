"""Whether an answer costs more in a large campaign, or after thousands of answers: ``python -m perf.flatness``.

Over HTTP, real processes. A newcomer and an annotator with many answers behind them, in a campaign of 1,000 items and in
one of 100,000, answer in turns: the machine is the same to all four. Five runs; the figures are medians of the runs.
"""

import argparse
import json
import math
import os
import statistics

from perf.setup import start

folder = start()

from django.db import connection

from console.serving import free_port, start_child, stop_children, wait_until_up, web_command
from perf.annotators import Annotator
from perf.claims import annotator, campaign_of, give_a_past

SIZES, RUNS, WARM_UP = (1_000, 100_000), 5, 20
PAST = {1_000: 400, 100_000: 5_000}  # answers behind those who are no newcomers


def people(address):
    """Return a newcomer and a veteran of each campaign, by what they are called."""
    found = {}
    for size in SIZES:
        campaign = campaign_of(size, "antique")
        for name, past in (("newcomer", 0), ("veteran", PAST[size])):
            surrogate = annotator(campaign)
            if past:
                give_a_past(campaign, surrogate, past)
            found[f"{name}, {size:,} items"] = Annotator(address, campaign, surrogate, 0.0, math.inf)
    return found


def at_95(seconds):
    """Return the 95th percentile in milliseconds."""
    return 1000 * sorted(seconds)[int(0.95 * len(seconds))]


def main():
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--answers", type=int, default=100, help="of each of the four in a run")
    answers = options.parse_args().answers
    address = f"127.0.0.1:{free_port(18_700)}"
    four = people(address)
    child = start_child(
        web_command(address), {**os.environ, "PLATFORM_URL": f"http://{address}", "QUORATE_DATA": folder}
    )
    try:
        wait_until_up(address)
        for one in four.values():
            one.begin()
        for _ in range(WARM_UP + RUNS * answers):
            for one in four.values():
                assert one.answer(), "nothing left to answer"
    finally:
        stop_children([child])
    found = {}
    for name, one in four.items():
        assert not one.failed
        kept = one.seconds[WARM_UP:]
        runs = [kept[begin : begin + answers] for begin in range(0, len(kept), answers)]
        found[name] = {
            "p50": round(1000 * statistics.median(statistics.median(run) for run in runs), 1),
            "p95": round(statistics.median(map(at_95, runs)), 1),
            "p95 of each run": [round(at_95(run), 1) for run in runs],
        }
    print(json.dumps({"database": connection.vendor, **found}, indent=1))


if __name__ == "__main__":
    main()
