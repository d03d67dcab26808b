"""Precision and recall of the heuristics on 200 labeled queries: ``python -m perf.heuristics [--tagger spacy|lexicon]``.

Half of the queries were written for this in the style of a search log, half are real questions of the shared data (by line).
Two readers labeled all of them independently by the wording of the paper, before the rules had run on any; where they
differed, a third reading decided. tests/sources/heuristics/labels.tsv holds all three.
"""

import argparse
import csv
import hashlib
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from measures.reliability import wilson
from sources.rules.heuristics import RULES, rules_of
from sources.steps.heuristics import TAGGERS, common_kinds

LABELS = Path(__file__).parent.parent / "tests" / "sources" / "heuristics" / "labels.tsv"
SHARED = Path(os.environ.get("QUORATE_SHARED", Path(__file__).parent.parent.parent / "shared")) / "data"
READERS = ("first", "second", "final")


class Labelled(NamedTuple):
    """A query with the rules that hold for it, by each reader and in the end."""

    text: str
    by: dict[str, frozenset[str]]


class Measured(NamedTuple):
    """How a rule as it is written compares with the labels; ``any`` stands for all rules together."""

    rule: str
    true: int
    holds: int  # by the rule
    labelled: int

    def line(self) -> str:
        """Return it as a row of the table in the docs."""
        return (
            f"| {self.rule} | {self.labelled} | {_share(self.true, self.holds)} | {_share(self.true, self.labelled)} |"
        )


def _share(part, of):
    if not of:
        return "–"
    low, high = wilson(np.array([part / of]), np.array([of]))
    return f"{part} of {of}: {part / of:.2f} ({low[0]:.2f} to {high[0]:.2f})"


def read_queries(shared=SHARED):
    """Return the text of each labeled query by its number; those of the shared data are checked by their hash."""
    real = [
        json.loads(line)["question"] for line in (shared / "questions" / "nq-open-dev.jsonl").open(encoding="utf-8")
    ]
    found = {}
    for row in _rows():
        text = row["text"] or real[int(row["line"]) - 1]
        if hashlib.sha256(text.encode()).hexdigest()[:12] != row["sha256"]:
            raise ValueError(f"query {row['number']} is not the one that was labelled")
        found[row["number"]] = text
    return found


def _rows():
    with LABELS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def labelled(queries):
    """Return the labeled queries."""
    return [
        Labelled(queries[row["number"]], {reader: frozenset(row[reader].split()) for reader in READERS})
        for row in _rows()
    ]


def measured(queries, tagger):
    """Return precision and recall of each rule, then of all together."""
    kinds = common_kinds()
    tags = tagger.tag([query.text for query in queries])
    found = [(rules_of(words, kinds), query.by["final"]) for words, query in zip(tags, queries, strict=True)]
    rows = []
    for rule in (*RULES, "any"):
        pairs = [
            (bool(rules) if rule == "any" else rule in rules, bool(final) if rule == "any" else rule in final)
            for rules, final in found
        ]
        rows.append(Measured(rule, sum(a and b for a, b in pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)))
    return rows


def agreement(queries):
    """Return for each rule how often the two readers agreed, and Cohen's kappa."""
    found = {}
    for rule in RULES:
        pairs = Counter((rule in one.by["first"], rule in one.by["second"]) for one in queries)
        n = len(queries)
        same = (pairs[True, True] + pairs[False, False]) / n
        first, second = (pairs[True, True] + pairs[True, False]) / n, (pairs[True, True] + pairs[False, True]) / n
        chance = first * second + (1 - first) * (1 - second)
        found[rule] = (same, (same - chance) / (1 - chance) if chance < 1 else 1.0)
    return found


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tagger", choices=list(TAGGERS), default="spacy")
    parser.add_argument("--wrong", action="store_true", help="print the queries on which rule and label differ")
    options = parser.parse_args()
    queries, tagger = labelled(read_queries()), TAGGERS[options.tagger]()
    for rule, (same, kappa) in agreement(queries).items():
        print(f"{rule}: the readers agree on {same:.1%}, kappa {kappa:.2f}")
    for row in measured(queries, tagger):
        print(row.line())
    begun = time.perf_counter()
    for _words in tagger.tag([query.text for query in queries] * 10):
        pass
    print(f"{10 * len(queries) / (time.perf_counter() - begun):,.0f} queries a second")
    if options.wrong:
        kinds = common_kinds()
        for query, words in zip(queries, tagger.tag([one.text for one in queries]), strict=True):
            found = rules_of(words, kinds)
            if found != query.by["final"]:
                print(
                    f"{query.text}: rules {' '.join(sorted(found - query.by['final'])) or '–'} too many, {' '.join(sorted(query.by['final'] - found)) or '–'} missing"
                )


if __name__ == "__main__":
    main()
