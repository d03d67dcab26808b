"""What rectified scores save: ``python -m perf.statistics.rectified CROWDS [--worlds N]`` (2,000: half a minute).

In seeded worlds, the bias and the coverage of intervals. On published crowds, each annotator with at least 300 known items
is a system: the automatic score of an answer is the share of the others who gave it, and the judgment whether it is right.
"""

import argparse
from pathlib import Path

import numpy as np

from measures.rectified import Board
from tests.measures.crowds import NAMES, TIMED, real
from tests.measures.rectified_worlds import WORLDS, world

SAMPLES, LEAST, JUDGED = 20, 300, 100


def systems_of(judgments, truth):
    """Yield, for each annotator with enough known items, automatic scores and judgments of all these items."""
    places = {str(label): place for place, label in enumerate(judgments.labels)}
    true = np.array([places.get(str(truth.get(item)), -1) for item in judgments.items])
    counts = judgments.counts()
    for person in range(len(judgments.annotators)):
        own = (judgments.annotator == person) & (true[judgments.item] >= 0)
        item, label = judgments.item[own], judgments.label[own]
        others = counts[item].sum(axis=1) - 1
        keep = others > 0
        if keep.sum() >= LEAST:
            alike = (counts[item, label] - 1)[keep] / others[keep]
            yield alike, (label == true[item])[keep].astype(float)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    parser.add_argument("--worlds", type=int, default=2_000)
    given = parser.parse_args()
    print("| world | bias, in standard errors | covers | width, of the sample's |\n|---|---|---|---|")
    for name, options in WORLDS.items():
        chance = np.random.default_rng(1)
        found = [world(chance, **options).rectified("a") for _ in range(given.worlds)]
        error = np.array([one.score.value - options["right"] for one in found])
        covers = np.mean([one.score.low <= options["right"] <= one.score.high for one in found])
        width = np.mean([(one.score.high - one.score.low) / (one.sample.high - one.sample.low) for one in found])
        print(f"| {name} | {error.mean() / error.std():+.3f} | {covers:.1%} | {width:.2f} |", flush=True)
    print(
        "\n| crowd | systems | width, of the sample's | automatic score, mean error | rectified, mean error |\n|---|---|---|---|---|"
    )
    for name in (*NAMES, *TIMED):
        chance, widths, errors, biases = np.random.default_rng(2), [], [], []
        for scores, judgments in systems_of(*real(given.crowds.parent, name)):
            biases.append(abs(scores.mean() - judgments.mean()))
            for _ in range(SAMPLES):
                sample = chance.choice(len(scores), JUDGED, replace=False)
                board = Board({"a": scores}, sample, {"a": judgments[sample]}, np.zeros(len(scores), dtype=np.int64))
                found = board.rectified("a")
                widths.append((found.score.high - found.score.low) / (found.sample.high - found.sample.low))
                errors.append(abs(found.score.value - judgments.mean()))
        if widths:
            print(
                f"| {name} | {len(biases)} | {np.mean(widths):.2f} | {np.mean(biases):.3f} | {np.mean(errors):.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
