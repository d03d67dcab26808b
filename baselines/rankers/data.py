"""The input of rankers: the folder of a release in the format of ANTIQUE, or a file of NLPCC's pairs."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from baselines.nlpcc.dbqa import questions_of
from evaluation.files import EvaluationError
from evaluation.nlpcc.dbqa import pairs_of
from evaluation.relevance.files import Qrels, read_qrels
from storage.text_files import LineFault, naming, text_lines

LEAST, MOST = 1, 4  # labels of ANTIQUE
RELEVANT = 3  # labels from this on are relevant, as in the paper
COLLECTION = "antique-collection.txt"


class Triple(NamedTuple):
    """A question with an answer that should come before another, by their ids."""

    question: str
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Questions and answers with their texts by id; labels by question and answer; the answers to rank for a question."""

    questions: dict[str, str]
    answers: dict[str, str]
    labels: Qrels
    candidates: dict[str, list[str]]


def ranking_files(source: Path, split: str) -> list[Path]:
    """Return the files that a ranker learns from."""
    if source.is_file():
        return [source]
    return [source / name for name in (COLLECTION, f"antique-{split}-queries.txt", f"antique-{split}.qrel")]


def ranking_read(source: Path, split: str, *, needs_labels: bool) -> Ranking:
    """Return a split of a release's folder, or all of a file of NLPCC's pairs, which has no splits.

    Parameters
    ----------
    needs_labels
        Refuse data without labels.

    Raises
    ------
    EvaluationError
        A file is missing or wrong; names file and line.
    """
    return (
        _of_pairs(source, needs_labels=needs_labels)
        if source.is_file()
        else _of_release(source, split, needs_labels=needs_labels)
    )


def _of_pairs(path: Path, *, needs_labels: bool) -> Ranking:
    """Return the sentences of a file of pairs; ids are positions of pairs, for a question that of its first pair."""
    pairs = pairs_of(path, need_labels=needs_labels)
    found = Ranking({}, {str(place): pair.sentence for place, pair in enumerate(pairs)}, {}, {})
    for start, end in questions_of(pairs):
        own = range(start, end)
        found.questions[str(start)] = pairs[start].question
        found.candidates[str(start)] = [str(place) for place in own]
        found.labels[str(start)] = {str(place): MOST if pairs[place].is_answer else LEAST for place in own}
    return found


def _of_release(folder: Path, split: str, *, needs_labels: bool) -> Ranking:
    answers = _texts(folder / COLLECTION)
    questions = _texts(folder / f"antique-{split}-queries.txt")
    qrels = folder / f"antique-{split}.qrel"
    labels = read_qrels(qrels, lowest=LEAST) if needs_labels or qrels.exists() else {}
    for question, judged in labels.items():
        for answer in judged:
            if question not in questions or answer not in answers:
                raise EvaluationError(f"{folder}: question {question} or answer {answer} has a label and no text")
    everything = sorted(answers)
    candidates = {one: sorted(labels[one]) if one in labels else everything for one in sorted(questions)}
    return Ranking(questions, answers, labels, candidates)


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
    """Return the triples to learn from: relevant answers against others of their question, and against random ones.

    Parameters
    ----------
    random_worse
        The number of answers to other questions per relevant answer. They are drawn from all of them, not from
        search results, because some of those are relevant (13.7% of BM25's ten best, in the paper's collection).
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
    """Yield random answers that were not judged for a question; nothing if all were judged."""
    if len(everything) <= len(judged):
        return
    while count:
        drawn = chance.choice(everything)
        if drawn not in judged:
            count -= 1
            yield drawn


def candidates_of(ranking: Ranking, run: Path | None) -> dict[str, list[str]]:
    """Return the answers to rank for each question: those of a TREC run, or else its candidates.

    Raises
    ------
    EvaluationError
        The run can't be read, or contains an id that the release doesn't have.
    """
    if run is None:
        return ranking.candidates
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


def run_lines(question: str, scores: Mapping[str, float], name: str) -> Iterator[str]:
    """Yield the lines of a TREC run for a question, the best answer first."""
    ordered = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
    for place, (answer, score) in enumerate(ordered, 1):
        yield f"{question} Q0 {answer} {place} {score!r} {name}\n"
