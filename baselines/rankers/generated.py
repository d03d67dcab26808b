"""The generated questions and answers of `simulation`, as the folder of a release in the format of ANTIQUE."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from baselines.rankers.data import COLLECTION
from exports.formats.antique import text_line
from simulation.learnable_answers import LearnableQuestion, learnable_questions
from simulation.learnable_topics import unseen_questions


def generated_ranking_write(folder: Path, *, train: int, test: int, seed: int) -> None:
    """Write a release's folder with this many train and test questions, about the same topics."""
    asked = {
        "train": learnable_questions(train, seed=seed),
        "test": learnable_questions(test, seed=seed + 1_000, first=train),
    }
    _release_write(folder, asked)


def unseen_ranking_write(folder: Path, *, train: int, test: int, seed: int) -> None:
    """Write a release's folder whose test questions have topics and templates that no train question has."""
    asked = {
        "train": unseen_questions(train, split="train", seed=seed),
        "test": unseen_questions(test, split="test", seed=seed + 1_000, first=train),
    }
    _release_write(folder, asked)


def _release_write(folder: Path, asked: Mapping[str, Iterable[LearnableQuestion]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    collection: list[str] = []
    for split, questions in asked.items():
        queries, qrels = [], []
        for question in questions:
            queries.append(text_line(question.key, question.text))
            for key, text, label in question.answers:
                collection.append(text_line(key, text))
                qrels.append(f"{question.key} U0 {key} {label}")
        _write(folder / f"antique-{split}-queries.txt", queries)
        _write(folder / f"antique-{split}.qrel", qrels)
    _write(folder / COLLECTION, collection)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")
