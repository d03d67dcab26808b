"""Qrels and runs in the formats of TREC."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.files import EvaluationError
from sources.trec import ranked, result_of
from storage.text_files import LineFault, naming, text_lines

MOST_LABEL = 127  # trec_eval's
MOST_LABELS = 1_000_000  # thirty times as many as ANTIQUE has
MOST_QUESTIONS = 100_000  # with labels; and without, of which more are not told apart
Qrels = dict[str, dict[str, int]]  # by question and answer


@dataclass(slots=True)
class Run:
    """A system's results: the score of each answer, by question.

    ``unjudged`` holds the questions without any label, up to a hundred thousand. trec_eval ignores them.
    """

    name: str
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    unjudged: set[str] = field(default_factory=set)

    def ranking(self, question: str) -> list[str]:
        """Return the answers to a question, best first, as trec_eval ranks them."""
        return ranked(self.scores.get(question, {}))


def read_qrels(path: Path, *, lowest: int, without: Collection[str] = ()) -> Qrels:
    """Return the labels by question and answer, as written in the file.

    Parameters
    ----------
    lowest
        The lowest label on the relevance scale, including "not relevant". Negative labels are accepted too: TREC uses
        them for spam and off-topic answers, which were judged and aren't relevant.
    without
        Questions to leave out.

    Raises
    ------
    EvaluationError
    """
    found: Qrels = {}
    for number, text in text_lines(path, most=MOST_LABELS):
        with naming(path, number):
            question, answer, label = _qrel(text, lowest)
            if question in without:
                continue
            labels = found.setdefault(question, {})
            if len(found) > MOST_QUESTIONS:
                raise LineFault(f"this is question {len(found):,}: more than {MOST_QUESTIONS:,} are not scored at once")
            if answer in labels:
                raise LineFault(f"{question} {answer} has a label already")
            labels[answer] = label
    if not found:
        raise EvaluationError(f"{path}: holds no label")
    return found


def _qrel(text: str, lowest: int) -> tuple[str, str, int]:
    parts = text.split()
    if len(parts) != 4:
        raise LineFault(f"expected question, iteration, answer and label, found {len(parts)} columns")
    question, _iteration, answer, label = parts
    try:
        value = int(label)
    except ValueError:
        raise LineFault(f"the label {label[:40]!r} isn't a whole number") from None
    if not (-MOST_LABEL <= value < 0 or lowest <= value <= MOST_LABEL):
        raise LineFault(f"the label {value} is below {lowest} or above {MOST_LABEL}: see --lowest")
    return question, answer, value


def read_questions(path: Path) -> frozenset[str]:
    """Return question ids, one per line, as in ANTIQUE's blacklist; text after an id is ignored."""
    return frozenset(text.split()[0] for _number, text in text_lines(path))


def read_run(path: Path, qrels: Qrels, *, without: Collection[str] = ()) -> Run:
    """Return a run without the questions that have no label or are left out.

    Raises
    ------
    EvaluationError
        A line has other columns, a score isn't a finite number, or an answer occurs twice for a question.
    """
    run = Run(path.name)
    for number, text in text_lines(path):
        with naming(path, number):
            question, answer, score, run.name = result_of(text)
            if question not in qrels:
                if question not in without and len(run.unjudged) < MOST_QUESTIONS:
                    run.unjudged.add(question)
                continue
            scores = run.scores.setdefault(question, {})
            if answer in scores:
                raise LineFault(f"{answer} was returned for {question} before")
            scores[answer] = score
    if not run.scores:
        raise EvaluationError(f"{path}: answers no question that has labels")
    return run
