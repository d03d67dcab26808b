"""Whether planned rankings have the stated power: ``python -m perf.statistics.ranking [--worlds N]`` (2,000: two minutes)."""

import argparse

import numpy as np

from tests.measures.ranking_worlds import WORLDS, is_found, planned


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=2_000)
    given = parser.parse_args()
    print("| world | judged items | power (stated: 0.8) |\n|---|---|---|")
    for name, options in WORLDS.items():
        judged, chance = planned(*options), np.random.default_rng(1)
        found = np.mean([is_found(chance, *options, judged) for _ in range(given.worlds)])
        print(f"| {name} | {judged:,} | {found:.3f} |", flush=True)


if __name__ == "__main__":
    main()
