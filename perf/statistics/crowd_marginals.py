"""The synthetic crowd beside real ones: ``python -m perf.statistics.crowd_marginals CROWDS`` (half a minute).

CROWDS is the folder of the published crowds. To each a model is fitted; people of the model then judge as many new items by
the same design. Times: of two crowds whose seconds were published.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from measures.agreement import Level, alpha_alone
from measures.behaviour import LEAST, sameness, twins
from measures.judgments import Judgments
from perf.figures import figures
from simulation.fit import Rows, fitted
from simulation.model import Pace, votes
from simulation.people import people_of
from tests.measures.crowds import NAMES, real
from tests.measures.halves import LEVELS, Crowd

SEEDS = 8


def played(crowd, model, seed):
    """Return judgments of new items by people of a model, by the design of a real crowd; and the right labels."""
    chance, old = np.random.default_rng(seed), crowd.judgments
    true, said = model.items(len(old.items), chance)
    label = votes(said[old.item], model.care[old.annotator], model.habits[old.annotator], chance)
    return Judgments(old.items, old.annotators, old.labels, old.item, old.annotator, label), true


def marginals(judgments, true, level):
    """Return what is compared."""
    counts, known = judgments.counts(), true >= 0
    most = counts.max(axis=1, keepdims=True)
    wins = counts == most
    right = (wins[np.arange(len(true)), np.maximum(true, 0)] / wins.sum(axis=1))[known].mean()
    hit = (judgments.label == true[judgments.item]) & known[judgments.item]
    each = np.bincount(judgments.annotator, hit) / np.bincount(judgments.annotator, known[judgments.item]).clip(1)
    enough = np.flatnonzero(np.bincount(judgments.annotator) >= LEAST)
    rows = zip(judgments.item.tolist(), judgments.annotator.tolist(), judgments.label.tolist(), strict=True)
    same = sum(one.is_striking for one in sameness(rows).values()) / max(len(enough), 1)
    alike = sum(one.is_striking for one in twins(judgments).values()) / len(judgments.annotators)
    shares = np.bincount(judgments.label, minlength=len(judgments.labels)) / len(judgments)
    return {
        "majority right": right,
        "alpha": alpha_alone(judgments, level),
        "no majority": (2 * most[:, 0] <= counts.sum(axis=1)).mean(),
        "people: p10": np.quantile(each[enough], 0.1),
        "p50": np.quantile(each[enough], 0.5),
        "p90": np.quantile(each[enough], 0.9),
        "alike answers": same,
        "twins": alike,
        **{f"label {n + 1}": share for n, share in enumerate(shares)},
    }


def times(path):
    """Return seconds by person of a file with the columns worker and seconds."""
    found = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if float(row["seconds"]) > 0:
                found[row["worker"]].append(float(row["seconds"]))
    return [np.array(row) for row in found.values()]


def spread(people):
    """Return the median, how much people differ, and how much the answers of one do, as standard deviations of logarithms."""
    logs = [np.log(row) for row in people if len(row) >= 5]
    together = np.concatenate(logs)
    middles = np.array([np.median(row) for row in logs])
    within = np.sqrt(np.mean(np.concatenate([(row - row.mean()) ** 2 for row in logs])))
    tail = np.quantile(np.exp(together), 0.9) / np.median(np.exp(together))
    return float(np.median(np.exp(together))), float(middles.std()), float(within), float(tail)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowds", type=Path)
    given, furthest = parser.parse_args(), {}
    print(
        "| crowd | | majority right | alpha | no majority | people right: p10, p50, p90 | alike answers | twins | label shares, furthest apart |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name in NAMES:
        crowd = Crowd.of(name, *real(given.crowds.parent, name))
        old, level = crowd.judgments, LEVELS.get(name, Level.NOMINAL)
        model = fitted(Rows(tuple(map(str, old.labels)), old.item, old.annotator, old.label, crowd.true))
        runs = [marginals(*played(crowd, model, seed), level) for seed in range(SEEDS)]
        ours, theirs = {key: np.mean([run[key] for run in runs]) for key in runs[0]}, marginals(old, crowd.true, level)
        apart = max(abs(ours[key] - theirs[key]) for key in ours if key.startswith("label"))
        for what, one in (("real", theirs), ("made up", ours)):
            people = ", ".join(f"{one[key]:.2f}" for key in ("people: p10", "p50", "p90"))
            end = f"{100 * apart:.1f} points" if what == "made up" else ""
            print(
                f"| {name} | {what} | {one['majority right']:.3f} | {one['alpha']:.3f} | {one['no majority']:.3f} | {people} | {one['alike answers']:.2f} | {one['twins']:.2f} | {end} |"
            )
        furthest[f"{name}, majority right apart"] = round(abs(ours["majority right"] - theirs["majority right"]), 3)
    print(
        "\n| times | | median s | people differ (sd of log) | answers of one differ | p90 / median |\n|---|---|---|---|---|---|"
    )
    for path in sorted((given.crowds / "timed").glob("*.csv")):
        seconds = times(path)
        median, between, within, tail = spread(seconds)
        model = fitted_pace(median, between, within)
        made = [
            np.array([one.seconds(f"{n}", 60) for n in range(len(row))])
            for one, row in zip(model(len(seconds)), seconds, strict=True)
        ]
        name = path.stem.removesuffix("_pseudonymised")
        for what, numbers in (("real", (median, between, within, tail)), ("made up", spread(made))):
            print(f"| {name} | {what} | {numbers[0]:.1f} | {numbers[1]:.2f} | {numbers[2]:.2f} | {numbers[3]:.1f} |")
    figures(**furthest)


def fitted_pace(median, between, within):
    """Return the function that makes a number of people with a pace."""
    from simulation.assumed import assumed

    model = assumed("1234", no_majority=0.13, alike=8.0, care=0.97, pace=Pace(median, between, within))
    return lambda count: people_of(model, count, seed=1)


if __name__ == "__main__":
    main()
