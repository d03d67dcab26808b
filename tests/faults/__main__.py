"""``python -m tests.faults``: a crowd works while faults happen one after another; a table says what came of it.

Needs PostgreSQL and Redis as the tests do (DATABASE_URL, REDIS_URL). Two web processes, two workers and a scheduler run
on loopback. It takes `--seconds` and about a minute more, and ends with 1 if an answer was lost or doubled.
"""

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack

import django


def main() -> int:
    """Run the drills and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="how long faults happen (default 120)")
    seconds = parser.parse_args().seconds
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    django.setup()
    from tests.faults.drills import Drills

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="quorate-faults-"))
        drills = stack.enter_context(Drills(folder))
        happened = drills.run(seconds)
        found = drills.found()
    print(f"{'fault':<42}times")
    for name, times in sorted(happened.items()):
        print(f"{name:<42}{times:>5}")
    print()
    for name, value in found.items():
        print(f"{name:<42}{value:>5}")
    return 1 if found["lost"] or found["doubled"] else 0


if __name__ == "__main__":
    sys.exit(main())
