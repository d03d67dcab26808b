"""Votes where the doubt is against the same number for all: ``python -m perf.statistics.target CROWDS [--shuffles N]`` (50: minutes).

CROWDS is the folder of the published crowds. A first audit of 150 labels calibrates, a second one of 200 measures.
"""

import argparse
from pathlib import Path

import numpy as np

from tests.measures.crowds import real
from tests.measures.replays import FEWEST, Shuffled, by_target, fixed, votes_for

NEAR = {
    "rte": 0.1,
    "d_sentiment": 0.1,
    "web": 0.27,
    "dog": 0.2,
    "bluebird": 0.25,
    "cf": 0.14,
    "zencrowd": 0.14,
}  # close to what three votes give
SHARES = (2, 3)  # of the error of three votes: targets far below it
MOST = 10


def main():
    """Measure and print the rows of the table in docs/explanation/stated-error.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    parser.add_argument("--shuffles", type=int, default=50)
    parser.add_argument("--only", choices=NEAR)
    given = parser.parse_args()
    for name, near in NEAR.items():
        if given.only not in (None, name):
            continue
        crowds = [Shuffled.of(*real(given.crowds.parent, name), seed) for seed in range(given.shuffles)]
        numbers = range(FEWEST, int(np.bincount(crowds[0].judgments.item).max()) + 1)
        curve = [tuple(np.mean([fixed(crowd, n) for crowd in crowds], axis=0)) for n in numbers]
        for error in (near, *(curve[0][1] / share for share in SHARES)):
            played = [by_target(crowd, error, MOST, seed) for seed, crowd in enumerate(crowds)]
            wrong = np.array([one.error for one in played])
            votes, holds, experts = (
                np.mean([getattr(one, field) for one in played]) for field in ("votes", "holds", "by_experts")
            )
            alike = votes_for(curve, wrong.mean())
            as_good = f"{alike:.1f}" if alike else f"never ({curve[-1][0]:.2f} votes: {curve[-1][1]:.1%})"
            print(
                f"| {name} | {curve[0][1]:.1%} | {error:.1%} | {votes:.2f} | {experts:.1%} | {wrong.mean():.1%} "
                f"| {wrong.mean() / error:.2f} | {(wrong > error).mean():.0%} | {as_good} | {holds:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
