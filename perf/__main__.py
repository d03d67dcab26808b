"""A short version of the measurements beside the ones kept last: ``python -m perf [--keep]``, some four minutes.

Each row: what it is now, what it was, and how many times better (above 1) or worse (below) it is, first as measured and
then at the speed that the machine had: every measurement runs fixed pieces of Python and of SQLite beside it.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from perf.figures import MARK

KEPT = Path(__file__).with_name("kept.json")

# A name of its own for each run: one measurement may give several rows, and one may be run with several settings.
RUNS = {
    "8 annotators": ["perf.annotators", "--people", "8", "--seconds", "15"],
    "40 annotators": ["perf.annotators", "--people", "40", "--seconds", "15"],
    "200 annotators who think for 5 to 20 s": [
        "perf.annotators",
        "--people",
        "200",
        "--seconds",
        "40",
        "--think",
        "20",
    ],
    "34,011 pairs": ["perf.imports"],
    "a page of 2.5 MB": ["perf.pages", "--short"],
    "the marketplace": ["perf.marketplace", "--short"],
}
MORE_IS_BETTER = ("a second",)
COUNTED = ("failed", "items over n", "peak MB")  # does not depend on how fast the machine is


def run(command: list[str]) -> dict[str, float]:
    """Run one measurement and return its figures."""
    print(f"python -m {' '.join(command)}", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=900, check=False)
    found: dict[str, float] = {}
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            found |= json.loads(line[len(MARK) :])
    if done.returncode or not found:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2_000:]}{done.stderr[-4_000:]}")
    return found


def better(name: str, now: float, before: float) -> float | None:
    """Return how many times better a figure is than it was."""
    if not now or not before:
        return None
    return now / before if name.endswith(MORE_IS_BETTER) else before / now


def lines(name: str, now: dict[str, float], before: dict[str, float]) -> list[str]:
    """Return the lines of one measurement."""
    faster = now["rounds"] / before["rounds"] if "rounds" in before else None
    shown = [f"\n{name}: {now['rounds']} rounds of Python (kept: {before.get('rounds', 'none')})"]
    for row, value in now.items():
        if row in ("rounds", "commits"):
            continue
        times = better(row, value, before[row]) if row in before else None
        fair = times / faster if times and faster and row not in COUNTED else None
        cells = (value, before.get(row, ""), f"{times:.2f}" if times else "", f"{fair:.2f}" if fair else "")
        shown.append(f"  {row:<32}" + "".join(f"{cell!s:>12}" for cell in cells))
    return shown


def main() -> None:
    """Measure, print, and keep if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help=f"write the figures to {KEPT.name}, for the next run")
    parser.add_argument("--only", choices=RUNS, action="append", help="only this measurement (may be repeated)")
    chosen = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    print(f"  {'':<32}{'now':>12}{'kept':>12}{'better':>12}{'machine':>12}")
    for name, command in RUNS.items():
        if chosen.only and name not in chosen.only:
            continue
        found = run(command)
        print("\n".join(lines(name, found, kept.get(name, {}))), flush=True)
        if chosen.keep:
            kept[name] = found | {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}"}
            KEPT.write_text(f"{json.dumps(kept, indent=1)}\n")


if __name__ == "__main__":
    main()
