"""Whether it pays to draw doubtful labels more often for a certificate: ``python -m perf.statistics.guided [--runs N]``.

Labels are in two strata, doubtful ones and others, each judged in a random order. "At most the share ε of all labels is
wrong" is certified if, for each way of dividing ε among the strata, the product of two betting martingales reaches 1 / risk
(the union-intersection test of P. B. Stark, 2020, Sets of half-average nulls generate risk-limiting audits: SHANGRLA).
"""

import argparse
from math import log

import numpy as np

from measures.certificates import WEIGHT, Claim, effort, gain_of_bet

LABELS, ERROR, RISK = 5_000, 0.05, 0.05
GRID = 201  # ways of dividing the errors
# share of the labels that are doubtful -> share of the wrong ones that the bets expect among them
BELIEFS = {0.2: 0.5, 0.1: 0.9}
PARTS = (1, 2, 3)  # times as many judgments of doubtful labels as there are


class Stratum:
    """The evidence of one stratum against each share of wrong labels in it, as far as it was judged."""

    def __init__(self, chance, size, wrong, shares, guess):
        self.labels = chance.permutation(np.arange(size) < wrong)
        self.size, self.most, self.guess = size, shares * size, guess
        self.judged = self.found = 0
        self.log_capital = np.zeros(len(shares))

    def judge(self):
        """Judge the next label."""
        is_wrong = bool(self.labels[self.judged])
        least = (self.most - self.found) / (self.size - self.judged)
        rate = (WEIGHT * self.guess + self.found) / (WEIGHT + self.judged)
        self.log_capital += gain_of_bet(least, rate, is_wrong)
        self.judged, self.found = self.judged + 1, self.found + is_wrong


def judgments(chance, wrong, doubtful, among_doubtful, share):
    """Return the number of judgments until the certificate; all labels if there is none."""
    sizes = round(LABELS * doubtful), LABELS - round(LABELS * doubtful)
    first = min(sizes[0], round(wrong * among_doubtful))
    limit, belief = LABELS * ERROR, BELIEFS[doubtful]
    divided = np.linspace(max(0, limit - sizes[1]), min(limit, sizes[0]), GRID)
    shares = divided / sizes[0], (limit - divided) / sizes[1]
    guesses = (ERROR / 2 * LABELS * part / size for part, size in zip((belief, 1 - belief), sizes, strict=True))
    strata = [
        Stratum(chance, size, count, part, guess)
        for size, count, part, guess in zip(sizes, (first, wrong - first), shares, guesses, strict=True)
    ]
    for number in range(1, LABELS + 1):
        place = 0 if int(number * share) > int((number - 1) * share) else 1
        if strata[place].judged == strata[place].size:
            place = 1 - place
        strata[place].judge()
        if (strata[0].log_capital + strata[1].log_capital).min() >= log(1 / RISK):
            return number
    return LABELS


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    columns = "| doubtful labels, expected to hold | that hold, of the wrong labels | wrong labels | without strata | "
    print(columns + " | ".join(f"{part} times as many" for part in PARTS) + " |\n" + "|---" * (4 + len(PARTS)) + "|")
    for doubtful, belief in BELIEFS.items():
        for among in (belief, (belief + doubtful) / 2, doubtful):
            for share in (0.01, 0.02, 0.03):
                alone = effort(Claim(LABELS, ERROR, RISK), share, runs=2_000).mean
                chance, cells = np.random.default_rng(1), []
                for part in PARTS:
                    options = round(share * LABELS), doubtful, among, part * doubtful
                    found = np.mean([judgments(chance, *options) for _ in range(given.runs)])
                    cells.append(f"{found:,.0f} ({found / alone - 1:+.0%})")
                told = f"| {doubtful:.0%}, {belief:.0%} | {among:.0%} | {share:.0%} | {alone:,.0f} |"
                print(told, " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
