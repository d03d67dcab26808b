"""How often certificates are false, and how many judgments they take: ``python -m perf.statistics.certificates`` (a minute).

False certificates are counted in worlds in which exactly the stated share of labels is wrong, and the audit is stopped at
the best moment of all.
"""

import argparse

import numpy as np

from measures.certificates import Claim, effort
from tests.measures.certificate_worlds import first_certified, worlds

SIZES, ERRORS = (200, 1_000, 5_000), (0.02, 0.05, 0.1)
PART = 1_000  # worlds at a time


def false_certificates(claim, count):
    """Return how often a claim is certified before all labels are judged, with exactly the stated share wrong."""
    parts = [first_certified(claim, worlds(claim.size, claim.error, PART, seed)) for seed in range(count // PART)]
    return float((np.concatenate(parts) < claim.size).mean())


def main():
    """Measure and print the tables of docs/explanation/certificates.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    given = parser.parse_args()
    print("| labels | " + " | ".join(f"error {error:.0%}" for error in ERRORS) + " |\n|---|---|---|---|")
    for size in SIZES:
        found = [false_certificates(Claim(size, error), given.worlds) for error in ERRORS]
        print(f"| {size:,} | " + " | ".join(f"{share:.1%}" for share in found) + " |", flush=True)
    print("\n| wrong | mean judgments | nine of ten audits |\n|---|---|---|")
    for share in (0.0, 0.005, 0.01, 0.02, 0.03, 0.04):
        found = effort(Claim(5_000), share, runs=2_000)
        print(f"| {share:.1%} | {found.mean:,.0f} | at most {found.nine_of_ten:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
