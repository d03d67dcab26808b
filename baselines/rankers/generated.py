"""The generated questions and answers of `simulation`, as the folder of a release in the format of ANTIQUE."""

from pathlib import Path

from baselines.rankers.data import COLLECTION
from exports.formats.antique import text_line
from simulation.learnable_answers import learnable_questions


def generated_ranking_write(folder: Path, *, train: int, test: int, seed: int) -> None:
    """Write a release's folder with so many questions to train on, and so many to test with."""
    folder.mkdir(parents=True, exist_ok=True)
    collection: list[str] = []
    for split, count, own, first in (("train", train, seed, 0), ("test", test, seed + 1_000, train)):
        queries, qrels = [], []
        for question in learnable_questions(count, seed=own, first=first):
            queries.append(text_line(question.key, question.text))
            for key, text, label in question.answers:
                collection.append(text_line(key, text))
                qrels.append(f"{question.key} U0 {key} {label}")
        _write(folder / f"antique-{split}-queries.txt", queries)
        _write(folder / f"antique-{split}.qrel", qrels)
    _write(folder / COLLECTION, collection)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")
