"""What rankers learn from and rank: the files of a release in the format of ANTIQUE."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.files import EvaluationError
from evaluation.relevance.files import Qrels, read_qrels
from storage.text_files import LineFault, naming, text_lines

RELEVANT = 3  # labels from this on are relevant, as in the paper
COLLECTION = "antique-collection.txt"


class Triple(NamedTuple):
    """A question with an answer that should come before another, by their ids."""

    question: str
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """A split of a release: texts by id, and labels by question and answer; a split without labels has none."""

    questions: dict[str, str]
    answers: dict[str, str]
    labels: Qrels


def ranking_read(folder: Path, split: str, *, with_labels: bool) -> Ranking:
    """Return a split of a release's folder.

    Raises
    ------
    EvaluationError
        A file is missing or wrong; names file and line.
    """
    answers = _texts(folder / COLLECTION)
    questions = _texts(folder / f"antique-{split}-queries.txt")
    labels = read_qrels(folder / f"antique-{split}.qrel", lowest=1) if with_labels else {}
    for question, judged in labels.items():
        for answer in judged:
            if question not in questions or answer not in answers:
                raise EvaluationError(f"{folder}: question {question} or answer {answer} has a label and no text")
    return Ranking(questions, answers, labels)


def _texts(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in text_lines(path):
        with naming(path, number):
            key, tab, text = line.partition("\t")
            if not tab:
                raise LineFault("expected an id and a text with a tab between them")
            found[key] = text
    return found


def triples_of(ranking: Ranking, *, random_worse: int, seed: int) -> list[Triple]:
    """Return what is learned from: relevant answers against others of the same question, and against random ones.

    Parameters
    ----------
    random_worse
        For each relevant answer, so many answers that belong to other questions. They are drawn from all of them and not
        from what a search finds: of that, some are relevant (13.7% of BM25's ten best, in the paper's collection).
    """
    chance = random.Random(seed)  # noqa: S311  a sample
    found: list[Triple] = []
    everything = sorted(ranking.answers)
    for question in sorted(ranking.labels):
        judged = ranking.labels[question]
        others = [answer for answer in sorted(judged) if judged[answer] < RELEVANT]
        for better in sorted(answer for answer in judged if judged[answer] >= RELEVANT):
            found += [Triple(question, better, worse) for worse in others]
            found += [Triple(question, better, worse) for worse in _drawn(everything, judged, random_worse, chance)]
    return found


def _drawn(everything: list[str], judged: Mapping[str, int], count: int, chance: random.Random) -> Iterator[str]:
    """Yield random answers that were not judged for a question; none where all were."""
    if len(everything) <= len(judged):
        return
    while count:
        drawn = chance.choice(everything)
        if drawn not in judged:
            count -= 1
            yield drawn


def candidates_of(ranking: Ranking, run: Path | None) -> dict[str, list[str]]:
    """Return the answers to rank for each question: those of a TREC run, or else those with a label, or else all.

    Raises
    ------
    EvaluationError
        The run can't be read, or names what the release doesn't have.
    """
    if run is None:
        return {one: sorted(ranking.labels.get(one, ranking.answers)) for one in sorted(ranking.questions)}
    found: dict[str, list[str]] = {}
    for number, line in text_lines(run):
        with naming(run, number):
            parts = line.split()
            if len(parts) != 6:
                raise LineFault(f"expected six columns of a TREC run, found {len(parts)}")
            question, answer = parts[0], parts[2]
            if question in ranking.questions:
                if answer not in ranking.answers:
                    raise LineFault(f"answer {answer} is not in the collection")
                found.setdefault(question, []).append(answer)
    return found
