"""The metrics of boards, which score files against labels in memory."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from evaluation.boards.ladder import Scored
from evaluation.files import EvaluationError
from evaluation.item_lines import read_label_lines
from evaluation.nlpcc.dbqa import ranking_scores, read_scores
from evaluation.nlpcc.kbqa import answers_of, read_answers, set_scores
from evaluation.nq.answers import Gold
from evaluation.nq.predictions import PredictionFault, read_predictions
from evaluation.nq.scores import ExamplesDiffer, divided, is_said, score_all
from evaluation.relevance.files import Qrels, Run, read_run
from evaluation.relevance.report import MEASURES, Convention, values_of
from exports.formats.tells import Tells

Options = Mapping[str, Any]


class Metric(Protocol):
    """A score of prediction files; ``gold`` is the data from `evaluation.boards.gold`, read back from JSON."""

    title: str
    file: str  # what is uploaded, for a person
    sample: str  # a line or object of such a file
    over: Tells  # what it is computed over

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Read a file and score it; raise `EvaluationError` with a message that reveals nothing of the labels."""
        ...

    def floor(self, gold: Any) -> Scored:
        """Return the score that is possible without any knowledge: a first submission must beat it."""
        ...


class Accuracy:
    """The share of items with the right label."""

    title = "Accuracy"
    over = Tells.LABELS
    file = "JSON lines with item_id and label"
    sample = '{"item_id": "5655493461695504401", "label": "4"}'

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Score labels, one for each item of the split."""
        labels = gold["labels"]
        given = dict(read_label_lines(path, gold["allowed"], most=2 * len(labels) + 1000))
        _refuse_missing(path, [item for item in labels if item not in given])
        return _share([given[item] == label for item, label in labels.items()])

    def floor(self, gold: Any) -> Scored:
        """Return the score of giving all items the most frequent label."""
        ((usual, _count),) = Counter(gold["labels"].values()).most_common(1)
        return _share([label == usual for label in gold["labels"].values()])


class Ranking:
    """A measure of ranked lists, by the conventions of the ANTIQUE paper."""

    over = Tells.QRELS
    file = "a run: question, Q0, answer, rank, score and name on a line"
    sample = "3990512 Q0 3990512_1 1 0.93 my-system"

    def __init__(self, measure: str) -> None:
        self.title = measure

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Score a run."""
        qrels: Qrels = gold["qrels"]
        return self._of(qrels, read_run(path, qrels).scores)

    def floor(self, gold: Any) -> Scored:
        """Return the score of an uninformed order."""
        qrels: Qrels = gold["qrels"]
        return self._of(qrels, {question: {answer: _noise(answer) for answer in qrels[question]} for question in qrels})

    def _of(self, qrels: Qrels, scores: dict[str, dict[str, float]]) -> Scored:
        return _mean(values_of(qrels, Run("", scores), Convention(resamples=0))[self.title])


class AnswerF1:
    """F1 of long or short answers of Natural Questions, counting answers from the system's stated threshold on."""

    over = Tells.ANNOTATIONS
    file = "the prediction file of the official evaluation; example_id is that of the released file"
    sample = (
        '{"predictions": [{"example_id": 5655493461695504401,\n'
        '  "long_answer": {"start_byte": -1, "end_byte": -1, "start_token": 10, "end_token": 80},\n'
        '  "long_answer_score": 2.5,\n'
        '  "short_answers": [{"start_byte": -1, "end_byte": -1, "start_token": 12, "end_token": 14}],\n'
        '  "short_answers_score": 1.5, "yes_no_answer": "NONE"}]}'
    )

    def __init__(self, kind: str, title: str) -> None:
        self.kind, self.title = kind, title

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Score predictions at the threshold sent with them: one computed here would reveal something of the labels."""
        rows = {int(key): [_gold(one) for one in given] for key, given in gold["annotations"].items()}
        try:
            predictions = read_predictions(path)
            examples = score_all(rows, predictions, long_beta=gold["beta"], short_beta=gold["beta"])
        except (PredictionFault, ExamplesDiffer) as fault:
            raise EvaluationError(str(fault)) from fault
        scored = [getattr(one, self.kind) for one in examples]
        said = [is_said(one, options["threshold"]) for one in scored]
        right = [2.0 * (is_one_said and one.is_correct) for one, is_one_said in zip(scored, said, strict=True)]
        both = [float(is_one_said) + float(one.has_gold) for one, is_one_said in zip(scored, said, strict=True)]
        f1, mean = divided(sum(right), sum(both)), divided(sum(both), len(both))
        # An answer that is wrong adds least, one that is right adds most.
        low, high = (f1 + divided(top - 2 * f1, mean) for top in (0.0, 2.0))
        values = [f1 + divided(top - f1 * bottom, mean) for top, bottom in zip(right, both, strict=True)]
        return Scored(f1, values, low, high)

    def floor(self, gold: Any) -> Scored:
        """Return 0, the score of no answers at all."""
        return Scored(0.0, [0.0] * len(gold["annotations"]))


class SetF1:
    """Averaged F1 of sets of answers, as NLPCC scores its knowledge-base task."""

    title = "Averaged F1"
    over = Tells.ANSWERS
    file = "answers in the form of NLPCC's KBQA: <answer id=1>, a tab, and the answer"
    sample = "<answer id=1>\tLake Orrin"

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Score answers; a question without one counts 0, and answers to unknown questions are ignored."""
        given = read_answers(path).answers
        rows = sorted((int(number), answers_of(text)) for number, text in gold["answers"].items())
        return _mean([set_scores(wanted, given.get(number, frozenset()))["F1"] for number, wanted in rows])

    def floor(self, gold: Any) -> Scored:
        """Return 0, the score of no answers at all."""
        return Scored(0.0, [0.0] * len(gold["answers"]))


class SentenceRanking:
    """A measure of ranked sentences, as NLPCC scores its document task."""

    over = Tells.SENTENCES
    file = "a score on a line for each line of the released file, in its order"
    sample = "0.83\n0.12"

    def __init__(self, measure: str) -> None:
        self.title = measure

    def score(self, path: Path, gold: Any, options: Options) -> Scored:
        """Score a file of scores; sentences with equal scores keep the file's order, non-answers first."""
        pairs: list[list[bool]] = gold["pairs"]
        scores = read_scores(path)
        if len(scores) != sum(map(len, pairs)):
            raise EvaluationError(f"{path}: holds {len(scores):,} scores for {sum(map(len, pairs)):,} lines")
        return self._of(pairs, iter(scores))

    def floor(self, gold: Any) -> Scored:
        """Return the score of an uninformed order."""
        pairs: list[list[bool]] = gold["pairs"]
        return self._of(pairs, (_noise(str(line)) for line in range(sum(map(len, pairs)))))

    def _of(self, pairs: list[list[bool]], scores: Iterator[float]) -> Scored:
        values = []
        for labels in pairs:
            ranked = sorted(zip(islice(scores, len(labels)), labels, strict=True), key=lambda row: (-row[0], row[1]))
            values.append(ranking_scores([label for _score, label in ranked])[self.title])
        return _mean(values)


METRICS: dict[str, Metric] = {
    "accuracy": Accuracy(),
    "long-f1": AnswerF1("long", "F1 of long answers"),
    "short-f1": AnswerF1("short", "F1 of short answers"),
    "kbqa": SetF1(),
    "dbqa-mrr": SentenceRanking("MRR"),
    "dbqa-map": SentenceRanking("MAP"),
    **{name.lower(): Ranking(name) for name in MEASURES},
}


def _refuse_missing(path: Path, missing: Sequence[str]) -> None:
    if missing:
        raise EvaluationError(f"{path}: {len(missing):,} items of the split have no label: {', '.join(missing[:20])}")


def _mean(values: Sequence[float]) -> Scored:
    return Scored(divided(sum(values), len(values)), values)


def _share(is_right: Sequence[bool]) -> Scored:
    return Scored(divided(sum(is_right), len(is_right)), [float(one) for one in is_right], is_binary=True)


def _gold(row: Any) -> Gold:
    long, shorts, yes_no = row
    return Gold(tuple(long) if long else None, tuple(tuple(one) for one in shorts), yes_no)


def _noise(answer: str) -> float:
    return int.from_bytes(hashlib.sha256(answer.encode()).digest()[:3])
