"""The untrained baselines of Natural Questions (Kwiatkowski et al. 2019, section 6.1), as files of predictions.

Two of them copy training annotations of the same page. A page is identified by its title. Its text may have changed
since, so they copy the box with the same words, and the spans at the same positions in it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from documents.html.published import PublishedError, read_records
from evaluation.files import EvaluationError
from storage.lines import DamagedFile, LineTooLong

NULL = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}
OFFSETS = tuple(NULL)
PARAGRAPH = "<P>"
Record = dict[str, Any]
Prediction = dict[str, Any]
Baseline = Callable[[Record], Prediction]


@dataclass(frozen=True, slots=True)
class Copied:
    """The answer of an annotation: the words of its box, its spans as tokens of the box, yes or no."""

    words: tuple[str, ...]
    shorts: tuple[tuple[int, int], ...] = ()
    yes_no: str = "NONE"


@dataclass(slots=True)
class Page:
    """The answers in a page's training annotations, in their order, and the questions that they answer."""

    questions: list[Counter[str]] = field(default_factory=list)
    answers: list[Copied] = field(default_factory=list)


def read_examples(paths: Iterable[Path]) -> Iterator[Record]:
    """Yield the records of files of the original format, packed or not.

    Raises
    ------
    EvaluationError
        A file cannot be read; names file and line.
    """
    for path in sorted(paths):
        try:
            with path.open("rb") as file:
                for _line, record in read_records(file):
                    yield record
        except PublishedError as error:
            raise EvaluationError(f"{path}: line {error.line}: {error}") from error
        except (DamagedFile, LineTooLong, OSError) as error:
            raise EvaluationError(f"{path}: {error}") from error


def predictions_of(records: Iterable[Record], baseline: Baseline) -> dict[str, list[Prediction]]:
    """Return a prediction file in the official evaluation's format.

    Raises
    ------
    EvaluationError
        A record lacks what the original format has.
    """
    found = []
    for number, record in enumerate(records, 1):
        try:
            found.append({"example_id": record["example_id"], **baseline(record)})
        except (KeyError, IndexError, TypeError) as error:
            raise EvaluationError(f"record {number}: isn't an example in the original format: {error!r}") from error
    return {"predictions": found}


def first_paragraph(record: Record) -> Prediction:
    """Return the first paragraph of the page as the long answer."""
    tokens = record["document_tokens"]
    for box in record["long_answer_candidates"]:
        if tokens[box["start_token"]]["token"] == PARAGRAPH:
            return _said(box, score=1.0)
    return _said(None)


def pages_of(training: Iterable[Record]) -> dict[str, Page]:
    """Return the training answers of each page, by its title; annotations without an answer are ignored.

    Raises
    ------
    EvaluationError
    """
    pages: dict[str, Page] = defaultdict(Page)
    for number, record in enumerate(training, 1):
        try:
            page = pages[record["document_title"]]
            for annotation in record["annotations"]:
                answer = _copied(record, annotation)
                if answer is not None:
                    page.questions.append(Counter(_terms(record)))
                    page.answers.append(answer)
        except (KeyError, IndexError, TypeError) as error:
            raise EvaluationError(
                f"training record {number}: isn't an example in the original format: {error!r}"
            ) from error
    return dict(pages)


def most_frequent(pages: Mapping[str, Page]) -> Baseline:
    """Return the baseline that copies the page's most frequent training answer; of equally frequent ones, the first."""
    best = {title: Counter(page.answers).most_common(1)[0] for title, page in pages.items() if page.answers}

    def predict(record: Record) -> Prediction:
        found = best.get(record["document_title"])
        return _paste(record, found[0], float(found[1])) if found else _said(None)

    return predict


def closest_question(pages: Mapping[str, Page]) -> Baseline:
    """Return the baseline that copies the answer to the most similar training question on the page.

    Similarity is the cosine of the words of two questions, each weighted by log(N / n), where n of the N training
    questions have it; words that no training question has weigh as those of one.
    """
    documents = [question for page in pages.values() for question in page.questions]
    among = Counter(term for question in documents for term in question)
    weight = {term: math.log(len(documents) / n) for term, n in among.items()}
    rare = math.log(max(1, len(documents)))

    def predict(record: Record) -> Prediction:
        page = pages.get(record["document_title"])
        if page is None or not page.answers:
            return _said(None)
        asked = Counter(_terms(record))
        scores = [_cosine(asked, known, weight, rare) for known in page.questions]
        best = max(range(len(scores)), key=lambda place: (scores[place], -place))
        return _paste(record, page.answers[best], scores[best])

    return predict


def _terms(record: Record) -> list[str]:
    return str(record["question_text"]).lower().split()


def _cosine(first: Counter[str], second: Counter[str], weight: Mapping[str, float], rare: float) -> float:
    def vector(terms: Counter[str]) -> dict[str, float]:
        return {term: n * weight.get(term, rare) for term, n in terms.items()}

    one, other = vector(first), vector(second)
    lengths = math.sqrt(sum(x * x for x in one.values()) * sum(x * x for x in other.values()))
    return sum(x * other.get(term, 0.0) for term, x in one.items()) / lengths if lengths else 0.0


def _words(record: Record, start: int, end: int) -> tuple[str, ...]:
    return tuple(token["token"] for token in record["document_tokens"][start:end])


def _copied(record: Record, annotation: Mapping[str, Any]) -> Copied | None:
    box = annotation["long_answer"]
    start, end = box["start_token"], box["end_token"]
    if start < 0:
        return None
    shorts = tuple((one["start_token"] - start, one["end_token"] - start) for one in annotation["short_answers"])
    return Copied(_words(record, start, end), shorts, annotation["yes_no_answer"])


def _paste(record: Record, answer: Copied, score: float) -> Prediction:
    """Return an answer in the first box of a page that has its words; an empty answer if there is none."""
    for box in record["long_answer_candidates"]:
        start, end = box["start_token"], box["end_token"]
        if end - start == len(answer.words) and _words(record, start, end) == answer.words:
            tokens = record["document_tokens"]
            shorts = [_span(tokens, start + first, start + last) for first, last in answer.shorts]
            return _said(box, shorts, answer.yes_no, score)
    return _said(None)


def _span(tokens: Sequence[Mapping[str, Any]], start: int, end: int) -> dict[str, int]:
    return {
        "start_byte": tokens[start]["start_byte"],
        "end_byte": tokens[end - 1]["end_byte"],
        "start_token": start,
        "end_token": end,
    }


def _said(
    box: Mapping[str, Any] | None, shorts: Sequence[dict[str, int]] = (), yes_no: str = "NONE", score: float = 0.0
) -> Prediction:
    return {
        "long_answer": {name: box[name] for name in OFFSETS} if box else NULL,
        "long_answer_score": score,
        "short_answers": list(shorts),
        "short_answers_score": score,
        "yes_no_answer": yes_no if box else "NONE",
    }
