"""The join of near duplicates at the size of nfL6: ``python -m perf.near_duplicates [--questions N]``.

Questions of 4 to 18 terms, frequencies after Zipf, 3% of them another one with a word changed, added or dropped. Prints for
each denominator, above the threshold and from it on: seconds, pairs, and how many times as fast as comparing all pairs
would be, which is timed on a part. Then the peak of memory of it all.
"""

import argparse
import random
import resource
import time
from fractions import Fraction
from itertools import combinations

from sources.rules.near_duplicates import Denominator, Overlap, near_pairs


def questions(number, draw):
    """Return sets of terms."""
    words = [f"w{n}" for n in range(20_000)]
    weights = [1 / (n + 10) for n in range(len(words))]
    sets = [frozenset(draw.choices(words, weights, k=draw.randint(4, 18))) for _ in range(number)]
    for place in draw.sample(range(number), number * 3 // 100):
        changed = set(sets[draw.randrange(number)])
        if draw.random() < 0.7 and len(changed) > 1:
            changed.remove(draw.choice(sorted(changed)))
        if draw.random() < 0.7:
            changed.add(draw.choice(words))
        sets[place] = frozenset(changed)
    return sets


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=66_634)
    options = parser.parse_args()
    sets = questions(options.questions, random.Random(5))
    print(f"{len(sets):,} questions, {sum(map(len, sets)) / len(sets):.1f} terms each")
    part = sets[:1_500]
    begun = time.perf_counter()
    for one, other in combinations(part, 2):
        _ = len(one & other) > 0.9 * max(len(one), len(other))
    all_pairs = (time.perf_counter() - begun) * (len(sets) / len(part)) ** 2
    for of in Denominator:
        for strictly in (True, False):
            begun = time.perf_counter()
            found = sum(1 for _ in near_pairs(sets, Overlap(Fraction(9, 10), of, strictly)))
            took = time.perf_counter() - begun
            sign = ">" if strictly else "≥"
            print(
                f"{sign} 90% of {of}: {took:.2f} s, {found:,} pairs, {all_pairs / took:,.0f} times as fast as all pairs"
            )
    print(f"peak of memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
