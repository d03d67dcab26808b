"""Forecasts from one half of real crowds against the other half: ``python -m perf.statistics.forecasts CROWDS [--cuts N]`` (60: minutes).

CROWDS is the folder of the published crowds. Each is cut in two by item **and** by person: what is forecast from a half of
the items, judged by a half of the people, is compared with the other half's items, judged by its people. The factor by which intervals
are widened is computed without the crowd that it is tried on.
"""

import argparse
from pathlib import Path

import numpy as np

from measures.pilots import NAMES, WIDER
from tests.measures.crowds import NAMES as CROWDS
from tests.measures.crowds import TIMED, real
from tests.measures.halves import Crowd, widening


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    parser.add_argument("--cuts", type=int, default=60)
    given = parser.parse_args()
    cuts = {}
    for name in (*CROWDS, *TIMED):
        crowd, chance = Crowd.of(name, *real(given.crowds.parent, name)), np.random.default_rng(1)
        cuts[name] = np.array([crowd.cut(chance) for _ in range(given.cuts)])
    print(f"| crowd, at its factor | {' | '.join(f'{name}: held, error, width' for name in NAMES)} | as it is |")
    print("|---|---|---|---|---|")
    for name, own in cuts.items():
        factor = widening([other for crowd, other in cuts.items() if crowd != name])
        plain, wide = (held(own, by) for by in (1.0, factor))
        error, width = np.abs(own[:, 0]).mean(axis=0), 2 * factor * own[:, 1].mean(axis=0)
        columns = [f"{h:.0%}, {e:.3f}, {w:.2f}" for h, e, w in zip(wide, error, width, strict=True)]
        print(f"| {name}, {factor:.2f} | {' | '.join(columns)} | {', '.join(f'{one:.0%}' for one in plain)} |")
    print(f"factor of all: {widening(list(cuts.values())):.2f}; in use: {WIDER}")


def held(own, factor):
    """Return how often intervals of this many times the jackknife's width hold each number."""
    return (np.abs(own[:, 0]) <= factor * own[:, 1]).mean(axis=0)


if __name__ == "__main__":
    main()
