"""A task type whose answers are questions: written, reviewed by a second person, answered blind by a third."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from annotation.tasktypes.base import (
    Accepted,
    Answer,
    AnswerError,
    Draft,
    Example,
    FollowUp,
    Measure,
    Option,
    Part,
    Remark,
    Said,
    Shown,
    Summary,
)
from annotation.tasktypes.columns import Column, Filled, Kind
from annotation.tasktypes.writing.texts import compared, key_of, one_line
from documents.html.tokens import Tokenization
from storage.tables.faults import RowError

WRITE, REVIEW, RECOVER = "write", "review", "recover"  # what an item asks, and the stage at which it does
ACCEPT, EDIT, REJECT = "accept", "edit", "reject"
DECISIONS = (ACCEPT, EDIT, REJECT)
REASONS = ("answer", "wrong", "unclear", "language", "duplicate", "other")
FOUND, MISSED = "found", "missed"
NO_CHOICE = -1  # of who answers blind: nothing there answers the question
OPTIONS = (Option("review", is_on=True), Option("recovery", is_on=True), Option("paste", is_on=True))


def asks(content: Mapping[str, Any]) -> str:
    """Return the task of an item: write, review or answer blind."""
    return str(content.get("asks", WRITE))


class Writing:
    """A base with the members of `annotation.tasktypes.base.TaskType`, `Written` and `FollowedUp`."""

    answer_version: ClassVar[int] = 1
    needs_document: ClassVar[bool] = False
    keeps_together: ClassVar[str] = "item"
    default_splits: ClassVar[str] = "train 1 8\ntest 1 2"
    usual_seconds: ClassVar[int]  # a guess: the overview of NLPCC 2017 has no time
    examples: ClassVar[tuple[Example, ...]] = ()
    training: ClassVar[tuple[Example, ...]] = ()
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    reviewing: ClassVar[str] = REVIEW
    writing: ClassVar[tuple[str, ...]] = (WRITE,)  # the stages of who writes
    stages: ClassVar[tuple[str, ...]] = (WRITE, REVIEW, RECOVER)  # all there are
    measures: ClassVar[tuple[Measure, ...]] = ()
    grades: ClassVar[tuple[Any, ...]] = ()

    # --- What differs ---------------------------------------------------------------------------

    def picked(self, sent: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the choice that was made before writing a question, or raise `AnswerError`."""
        raise NotImplementedError

    def answers_to(self, content: Mapping[str, Any], picked: Mapping[str, Any]) -> tuple[str, int]:
        """Return the text that answers a question about an item, and its index in `choices`."""
        raise NotImplementedError

    def choices(self, content: Mapping[str, Any]) -> Sequence[str]:
        """Return the choices for answering blind; with fewer than two, no one is asked to."""
        raise NotImplementedError

    def checks(self, text: str, picked: Mapping[str, Any], shown: Shown) -> Iterator[Remark]:
        """Yield remarks on a question."""
        raise NotImplementedError

    # --- Stages ---------------------------------------------------------------------------------

    def _stages_of(self, content: Mapping[str, Any]) -> tuple[str, ...]:
        return self.writing if asks(content) == WRITE else (asks(content),)

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the first stage that is not done."""
        done = draft.get("done", [])
        return next((stage for stage in self._stages_of(content) if stage not in done), None)

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields unchanged."""
        return dict(fields)

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the unfinished question and the choices made so far."""
        kept = {name: str(fields[name])[:20] for name in ("sentence", "choice", "decision", "reason") if name in fields}
        texts = {name: one_line(str(fields[name]), name) for name in ("question", "note") if name in fields}
        return kept | texts

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with the answer to one stage added; later stages are reopened."""
        stages = self._stages_of(shown.content)
        if stage not in stages:
            raise AnswerError("stage_unknown", "stage")
        before = stages[: stages.index(stage)]
        if not set(before) <= set(draft.get("done", [])):
            raise AnswerError("stage_before", "stage")
        return {**draft, "done": [*before, stage], stage: self._taken(draft, stage, sent, shown)}

    def _taken(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
        if stage == WRITE:
            return {"question": self._question(sent, self._picked_of(draft, shown.content), shown)}
        if stage == REVIEW:
            return self._reviewed(sent, shown)
        if stage == RECOVER:
            return {"choice": _index(sent.get("choice"), self.choices(shown.content), "choice")}
        return self.picked(sent, shown.content)

    def _picked_of(self, draft: Draft, content: Mapping[str, Any]) -> dict[str, Any]:
        kept = draft.get(self.writing[0], {}) if len(self.writing) > 1 else {}
        return self.picked(kept or content, content)

    def _question(self, sent: Mapping[str, Any], picked: Mapping[str, Any], shown: Shown) -> str:
        text = one_line(sent.get("question"), "question")
        for remark in self.checks(text, picked, shown):
            if remark.refuses:
                raise AnswerError(f"question_{remark.key}", "question")
        return text

    def _reviewed(self, sent: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
        decision, content = str(sent.get("decision", "")), shown.content
        if decision not in DECISIONS:
            raise AnswerError("review_decision", "decision")
        kept = {"decision": decision, "question": content["question"], "reason": "", "note": ""}
        if decision == REJECT:
            reason = str(sent.get("reason", ""))
            if reason not in REASONS:
                raise AnswerError("rejection_reason", "reason")
            return kept | {"reason": reason, "note": one_line(sent.get("note", ""), "note")}
        if decision == EDIT:
            text = self._question(sent, self.picked(content, content), shown)
            if text == content["question"]:
                raise AnswerError("review_unchanged", "question")
            return kept | {"question": text}
        return kept

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft with its last stage open again."""
        return {**draft, "done": draft.get("done", [])[:-1]}

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        """Return the finished answer, everything checked again."""
        checked: Draft = {}
        for stage in self._stages_of(shown.content):
            if stage not in draft.get("done", []):
                raise AnswerError("writing_unfinished", "stage")
            checked = self.advance(checked, stage, draft[stage], shown)
        kind = asks(shown.content)
        if kind == WRITE:
            picked = self._picked_of(checked, shown.content)
            text, _place = self.answers_to(shown.content, picked)
            return {"asks": WRITE, **checked[WRITE], **picked, "answer": text}
        if kind == REVIEW:
            return {"asks": REVIEW, **checked[REVIEW], "was": shown.content["question"]}
        return {"asks": RECOVER, **checked[RECOVER], "answer": self._chosen(shown.content, checked[RECOVER]["choice"])}

    def _chosen(self, content: Mapping[str, Any], choice: int) -> str:
        return self.choices(content)[choice] if choice != NO_CHOICE else ""

    def recovers(self, content: Mapping[str, Any], answer: Answer) -> bool:
        """Return whether the blind answer has the same text as the answer that the question was written for."""
        wanted, _place = self.answers_to(content, self.picked(content, content))
        return bool(answer["answer"]) and compared(answer["answer"]) == compared(wanted)

    # --- Texts, and what follows from them --------------------------------------------------------

    def text_key(self, answer: Answer) -> str:
        """Return a key that is equal for equal questions."""
        is_text = answer["asks"] == WRITE or answer.get("decision") == EDIT
        return key_of(answer["question"]) if is_text else ""

    def remarks(self, draft: Draft, shown: Shown) -> Sequence[Remark]:
        """Return the remarks about the question, as far as it is written."""
        stage = self.current_stage(draft, shown.content)
        if stage not in (WRITE, REVIEW):
            return []
        kept = draft.get("suggestion", {}).get(stage) or {}
        if stage == REVIEW and kept.get("decision") != EDIT:
            return []
        picked = self._picked_of(draft, shown.content) if stage == WRITE else self.picked(shown.content, shown.content)
        found = self.checks(str(kept.get("question", "")), picked, shown)
        return sorted(found, key=lambda remark: not remark.refuses)

    def follow_ups(self, content: Mapping[str, Any], answer: Answer, options: Mapping[str, bool]) -> Iterable[FollowUp]:
        """Return the review of a written question, or the blind answering of a question that passed its review."""
        if asks(content) == RECOVER or answer.get("decision") == REJECT:
            return []
        kind = REVIEW if asks(content) == WRITE and options["review"] else RECOVER
        if kind == RECOVER and (not options["recovery"] or len(self.choices(content)) < 2):
            return []
        picked = self.picked(answer if asks(content) == WRITE else content, content)
        return [FollowUp(kind, {**content, **picked, "asks": kind, "question": answer["question"]})]

    def refusal(self, content: Mapping[str, Any], answer: Answer) -> str | None:
        """Return the reason chosen in a review that rejects; releases contain it, so typed notes aren't included."""
        is_rejected = answer["asks"] == REVIEW and answer["decision"] == REJECT
        return str(answer["reason"]) if is_rejected else None

    def outcome(self, content: Mapping[str, Any], answer: Answer) -> tuple[str, str]:
        """Return the decision of a review, or whether a blind answer matched the wanted one."""
        if answer["asks"] == REVIEW:
            return REVIEW, str(answer["decision"])
        return RECOVER, FOUND if self.recovers(content, answer) else MISSED

    # --- Reading ----------------------------------------------------------------------------------

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return the lines of an answer's summary; annotators must not learn whether a blind answer was right."""
        if answer["asks"] == WRITE:
            return Summary([("question", answer["question"]), ("answer", answer["answer"])])
        if answer["asks"] == RECOVER:
            return Summary([("answer", answer["answer"] or "–")])
        lines = [("decision", answer["decision"]), ("question", answer["question"])]
        if answer["decision"] == EDIT:
            lines.append(("was", answer["was"]))
        if answer["decision"] == REJECT:
            lines.append(("reason", " – ".join(part for part in (answer["reason"], answer["note"]) if part)))
        return Summary(lines)

    def path(self, answer: Answer) -> str:
        """Return the decision of a review, or else the task."""
        return str(answer.get("decision") or answer["asks"])

    def redact(self, answer: Answer) -> Answer:
        """Return the answer without its texts."""
        return {**answer, **{name: "" for name in ("question", "was", "note") if name in answer}}

    @property
    def answer_columns(self) -> tuple[Filled, ...]:
        """Return the columns of written, decided or chosen values. The texts are the content of the dataset."""
        return (
            _column(
                "asks", Kind.TEXT, f"What was asked: {WRITE} a question, {REVIEW} one, or {RECOVER} its answer blind."
            ),
            _column("question", Kind.TEXT, "The question as it was written, or as its review left it.", is_source=True),
            _column(
                "answer", Kind.TEXT, "What answers it: by its writer, or by who answered it blind.", is_source=True
            ),
            _column("decision", Kind.TEXT, f"Of a review: {', '.join(DECISIONS)}."),
            _column("reason", Kind.TEXT, f"Why a review rejects: {', '.join(REASONS)}."),
        )

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return nothing: each item has a question of its own."""
        return ""

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the row itself."""
        return (record,)

    # --- Gold and experts: there is no one right question ------------------------------------------

    def accepted_from(self, row: Mapping[str, Any], page: Tokenization | None) -> Accepted:
        """Refuse gold questions: a written question has no single right version."""
        raise RowError(
            "questions that people write have no known answers; their reviews say how good they are", "accepted"
        )

    def agreed_on(self, answers: Sequence[Answer]) -> Accepted | None:
        """Return None: two questions are never the same answer."""
        return None

    def missed(self, accepted: Accepted, answer: Answer) -> str:
        """Return nothing: there are no gold questions."""
        return ""

    def parts(self, answers: Sequence[Answer]) -> list[Part]:
        """Return nothing: another annotator reviews each question."""
        return []

    def parts_of_key(self, accepted: Accepted) -> list[Part]:
        """Return nothing: there are no gold questions."""
        return []

    def confirms(self, accepted: Accepted, said: Said) -> bool:
        """Return False: there are no gold questions."""
        return False


def _column(name: str, kind: Kind, meaning: str, *, is_source: bool = False) -> Filled:
    return Filled(Column(name, kind, meaning), lambda answer: answer.get(name), is_source=is_source)


def _index(value: Any, choices: Sequence[str], field: str) -> int:
    try:
        index = int(str(value))
    except ValueError:
        raise AnswerError("choice_missing", field) from None
    if not NO_CHOICE <= index < len(choices):
        raise AnswerError("choice_unknown", field)
    return index


def sentence_index(value: Any, sentences: Sequence[str]) -> int:
    """Return the index of a sentence, or raise `AnswerError`."""
    index = _index(value, sentences, "sentence")
    if index == NO_CHOICE:
        raise AnswerError("sentence_missing", "sentence")
    return index
