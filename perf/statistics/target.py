"""Votes where the doubt is against the same number for all: ``python -m perf.statistics.target CROWDS [--shuffles N]`` (50: minutes).

CROWDS is the folder of the published crowds. A first audit of 150 labels calibrates, a second one of 200 measures.
"""

import argparse
from pathlib import Path

import numpy as np

from tests.measures.crowds import real
from tests.measures.replays import FEWEST, Shuffled, by_target, fixed, votes_for

TARGETS = {"rte": 0.1, "d_sentiment": 0.1, "web": 0.27, "dog": 0.2, "bluebird": 0.25}
MOST = 10


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    parser.add_argument("--shuffles", type=int, default=50)
    given = parser.parse_args()
    for name, error in TARGETS.items():
        crowds = [Shuffled.of(*real(given.crowds.parent, name), seed) for seed in range(given.shuffles)]
        numbers = range(FEWEST, int(np.bincount(crowds[0].judgments.item).max()) + 1)
        curve = [tuple(np.mean([fixed(crowd, n) for crowd in crowds], axis=0)) for n in numbers]
        played = [by_target(crowd, error, MOST, seed) for seed, crowd in enumerate(crowds)]
        votes, wrong, holds, left = (
            np.mean([getattr(one, field) for one in played]) for field in ("votes", "error", "holds", "left_to_experts")
        )
        alike = votes_for(curve, wrong)
        print(
            f"{name}: target {error}, {votes:.2f} votes, {wrong:.3f} wrong, as good with {alike and round(alike, 2)} for all"
            f" (all {curve[-1][0]:.2f}: {curve[-1][1]:.3f}); interval holds {holds:.2f}, without a label {left:.3f}"
        )


if __name__ == "__main__":
    main()
