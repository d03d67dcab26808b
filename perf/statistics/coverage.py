"""How often the interval of alpha holds what it promises: ``python -m perf.statistics.coverage [--runs N]`` (1,000: some ten minutes).

Crowds are made up again in each run; the alpha that they are held against is that of crowds many times as large.
"""

import argparse

import numpy as np

from measures.agreement import Level, alpha
from tests.measures.crowds import crossed

SIZES = ((200, 30, 3), (200, 30, 5), (600, 60, 3), (1_000, 150, 5))  # items, annotators, judgments an item


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    for items, people, votes in SIZES:
        for level in (Level.NOMINAL, Level.ORDINAL):
            chance = np.random.default_rng(0)
            true = np.mean([alpha(crossed(chance, 6_000, 3_000, votes)[0], level=level).alpha for _ in range(3)])
            found = [alpha(crossed(chance, items, people, votes)[0], level=level) for _ in range(runs)]
            covers = sum(one.low <= true <= one.high for one in found) / runs
            width = np.mean([one.high - one.low for one in found])
            print(f"{items} {people} {votes} {level.value}: alpha {true:.3f}, covers {covers:.3f}, width {width:.3f}")


if __name__ == "__main__":
    main()
