"""The Natural Questions task type."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from annotation.tasktypes.base import (
    Accepted,
    Answer,
    AnswerError,
    Draft,
    Example,
    Measure,
    NewItem,
    Offsets,
    Part,
    Said,
    Shown,
    Summary,
)
from annotation.tasktypes.columns import Filled
from annotation.tasktypes.nq import answers, columns, gold, judging
from annotation.tasktypes.nq.items import item_from_row
from annotation.tasktypes.nq.predicted import answer_predicted
from documents.html.tokens import Tokenization


class NaturalQuestions:
    """One annotator judges the question, then finds the long answer, then the short answer."""

    key: ClassVar[str] = "nq"
    title: ClassVar[str] = "Natural Questions"
    answer_version: ClassVar[int] = 1
    needs_document: ClassVar[bool] = True
    keeps_together: ClassVar[str] = "item"
    default_splits: ClassVar[str] = "train 1 8\ndev 5 1\ntest 5 1"
    usual_seconds: ClassVar[int] = 80  # section 3.2 of the paper
    stages: ClassVar[tuple[str, ...]] = ("question", "long_answer", "short_answer")
    default_guidelines: ClassVar[str] = (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")
    examples: ClassVar[tuple[Example, ...]] = ()
    training: ClassVar[tuple[Example, ...]] = ()
    item_columns: ClassVar[tuple[Filled, ...]] = columns.OF_ITEMS
    answer_columns: ClassVar[tuple[Filled, ...]] = columns.OF_ANSWERS
    measures: ClassVar[tuple[Measure, ...]] = judging.MEASURES
    grades: ClassVar[tuple[str, ...]] = judging.GRADES
    finds: ClassVar[Mapping[str, Callable[[Answer], Hashable | None]]] = judging.FINDS
    good_grades: ClassVar[tuple[str, ...]] = (judging.CORRECT, judging.DEBATABLE)

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the record: it is one question."""
        return (record,)

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the item of an import row."""
        return item_from_row(row)

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return nothing: each item is a question of its own."""
        return ""

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields, the spans as pairs of numbers."""
        spans = fields.get("spans")
        return {**fields, "spans": answers.spans_from(spans)} if isinstance(spans, str) else dict(fields)

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the box, the spans and the kind of a short answer that are marked."""
        sent = self.sent_from(fields)
        marked = {name: str(sent[name])[:20] for name in ("candidate_index", "kind") if name in sent}
        return marked | ({"spans": sent["spans"]} if "spans" in sent else {})

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the current stage of the assignment."""
        return answers.current_stage(draft)

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with the answer to one stage added."""
        if stage == "question":
            return answers.question_sent(draft, sent)
        if "question" not in draft.get("done", []):
            raise AnswerError("question_first", "stage")
        if stage == "long_answer":
            return answers.long_answer_sent(draft, sent, _known(shown.page))
        if stage == "short_answer":
            return answers.short_answer_sent(draft, sent, _known(shown.page))
        raise AnswerError("stage_unknown", "stage")

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft at the stage before."""
        return answers.step_back(draft)

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        """Return the finished answer."""
        return answers.finished_answer(draft, _known(shown.page))

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return the answer in lines."""
        page = _known(page)
        index = answer["long_answer"]["candidate_index"]
        lines = [("question", answer["question"]["label"])]
        if answer["question"]["first"] != answer["question"]["label"]:
            lines.append(("first judgment", answer["question"]["first"]))
        if answer["question"]["reason"]:
            lines.append(("reason", answer["question"]["reason"]))
        if answer["question"]["label"] == answers.GOOD:
            box = page.candidates[index] if index != answers.NO_ANSWER else None
            said = answers.reading_text((box.start_token, box.end_token), page) if box else ""
            lines.append(("long answer", said or answers.NONE))
        if index != answers.NO_ANSWER:
            short = answer["short_answer"]
            spans = [answers.reading_text(span, page) for span in short["spans"]]
            lines.append(("short answer", " | ".join(spans) if spans else short["kind"]))
        return Summary(lines, [index] if index != answers.NO_ANSWER else [])

    def path(self, answer: Answer) -> str:
        """Return the end of the annotator's path (Figure 2 of the paper)."""
        return answers.path_of(answer)

    def redact(self, answer: Answer) -> Answer:
        """Return the answer unchanged: it holds no free text."""
        return answer

    def accepted_from(self, row: Mapping[str, Any], page: Tokenization | None) -> Accepted:
        """Return the alternatives that a gold question accepts."""
        return gold.accepted_from(row, _known(page))

    def agreed_on(self, answers: Sequence[Answer]) -> Accepted | None:
        """Return the judgment of the question, box and short answer that all answers share."""
        return gold.agreed_on(answers)

    def missed(self, accepted: Accepted, answer: Answer) -> str:
        """Return the stage at which an answer fails a gold question."""
        return gold.missed(accepted, answer)

    def parts(self, answers: Sequence[Answer]) -> list[Part]:
        """Return the passages and short answers to be judged."""
        return judging.parts(answers)

    def predicted(self, long: Offsets | None, shorts: Sequence[Offsets], yes_no: str, page: Tokenization) -> Answer:
        """Return a prediction of the official format as an answer."""
        return answer_predicted(long, shorts, yes_no, page)

    def parts_of_key(self, accepted: Accepted) -> list[Part]:
        """Return the claims of a gold question."""
        return gold.parts_of_key(accepted)

    def confirms(self, accepted: Accepted, said: Said) -> bool:
        """Return whether an expert graded every claim of a gold question as correct."""
        return judging.confirms(said)


def _known(page: Tokenization | None) -> Tokenization:
    if page is None:
        raise AnswerError("item_without_document", "item")
    return page
