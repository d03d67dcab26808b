"""Forecasts from one half of real crowds against the other half: ``python -m perf.statistics.forecasts CROWDS [--cuts N]`` (60: minutes).

CROWDS is the folder of the published crowds. Each is cut in two by item **and** by person: what is forecast from a half of
the items, judged by a half of the people, is compared with the other half's items, judged by its people.
"""

import argparse
from pathlib import Path

import numpy as np

from measures.pilots import NAMES
from tests.measures.crowds import NAMES as CROWDS
from tests.measures.crowds import real
from tests.measures.halves import Crowd


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    parser.add_argument("--cuts", type=int, default=60)
    given = parser.parse_args()
    everything = []
    print(f"| crowd | {' | '.join(f'{name}: held, error, width' for name in NAMES)} |\n|{'---|' * (len(NAMES) + 1)}")
    for name in CROWDS:
        crowd, chance = Crowd.of(name, *real(given.crowds.parent, name)), np.random.default_rng(1)
        cuts = np.array([crowd.held(chance) for _ in range(given.cuts)])
        everything.append(cuts[:, :, 0])
        held, error, width = cuts[:, :, 0].mean(axis=0), np.abs(cuts[:, :, 1]).mean(axis=0), cuts[:, :, 2].mean(axis=0)
        print(
            f"| {name} | "
            + " | ".join(f"{100 * h:.0f}%, {e:.3f}, {w:.2f}" for h, e, w in zip(held, error, width, strict=True))
            + " |"
        )
    overall = np.concatenate(everything).mean(axis=0)
    print("| all | " + " | ".join(f"{100 * share:.0f}%" for share in overall) + " |")


if __name__ == "__main__":
    main()
