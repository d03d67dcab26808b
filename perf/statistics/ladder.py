"""How much better a submission must be to be shown on a sealed leaderboard: ``python -m perf.statistics.ladder`` (seconds)."""

import random

from evaluation.boards.ladder import Scored, chance_of, level_at

ATTEMPTS = (1, 10, 100)
RUNS, SPREAD = 200, 0.2


def gain_of_accuracy(items, differing, attempt):
    """Return the least gain in accuracy that is shown, when two systems differ in so many items."""
    for wins in range(differing + 1):
        old, new = ([one] * wins + [1 - one] * (differing - wins) for one in (0.0, 1.0))
        if chance_of(Scored(0, old, is_binary=True), Scored(0, new, is_binary=True)) <= level_at(attempt):
            return (2 * wins - differing) / items
    return None


def power_of_ranking(questions, gain, attempt):
    """Return how often such a gain is shown, when a question's measure differs by ``SPREAD`` (standard deviation)."""
    draw, shown = random.Random(1), 0
    for _ in range(RUNS):
        new = [max(-1.0, min(1.0, draw.gauss(gain, SPREAD))) for _ in range(questions)]
        shown += chance_of(Scored(0, [0.0] * questions), Scored(0, new)) <= level_at(attempt)
    return shown / RUNS


def main():
    """Print the figures of docs/how-to/run-a-challenge.md."""
    for items, differing in ((1_000, 100), (200, 40)):
        gains = [gain_of_accuracy(items, differing, attempt) for attempt in ATTEMPTS]
        print(f"accuracy, {items:,} items, {differing} differ, submission {ATTEMPTS}: {gains}")
    for questions in (200, 1_000):
        for attempt in ATTEMPTS[:2]:
            power = {gain: power_of_ranking(questions, gain, attempt) for gain in (0.02, 0.03, 0.04, 0.06, 0.08, 0.1)}
            print(f"ranking, {questions:,} questions, submission {attempt}, shown by gain: {power}")


if __name__ == "__main__":
    main()
