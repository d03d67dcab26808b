"""The pages of the Natural Questions task type."""

from typing import Any

from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.base import Answer, Pages, Part
from annotation.tasktypes.nq.answers import BAD, GOOD, NO, NO_ANSWER, NONE, YES, current_stage, reading_text, span_text
from annotation.tasktypes.nq.judging import CORRECT, DEBATABLE, WRONG
from documents.selectors import box_display, box_surroundings, page_display, tokenization_load, tokenization_of

BAD_REASON_LABELS = (
    ("ambiguous", _("Ambiguous")),
    ("incomprehensible", _("Incomprehensible")),
    ("false_presupposition", _("False presupposition")),
    ("opinion", _("Asks for an opinion")),
    ("not_a_request", _("Doesn't ask for facts")),
)
NULL_REASON_LABELS = (
    ("absent", _("The answer isn't on the page")),
    ("spread", _("The answer spans several boxes")),
)


class NaturalQuestionsPages(Pages):
    """Pages of three stages; the first doesn't give access to the document."""

    key = "nq"
    script = "annotation/nq.js"
    stage_names = {"question": _("Question"), "long_answer": _("Long answer"), "short_answer": _("Short answer")}
    paths = (
        ("bad_question", _("Bad question")),
        ("no_answer", _("No answer")),
        ("long_only", _("Long answer only")),
        ("short_answer", _("Short answer")),
        ("yes_no", _("Yes/no answer")),
    )
    measures = {
        "answered": _("Answer vs. no answer"),
        "question": _("Good vs. bad question"),
        "long_answer": _("Box chosen (set distance)"),
        "short_answer": _("Words chosen (set distance)"),
    }
    # Section 4.2 of the paper, in our words.
    grades = (
        (CORRECT, _("Correct"), _("This is right beyond a reasonable doubt.")),
        (
            DEBATABLE,
            _("Correct, but debatable"),
            _("One reasonable person could accept this answer, and another could reasonably doubt it."),
        ),
        (WRONG, _("Wrong"), _("There is no convincing evidence that this is right.")),
    )
    summary_names = {
        "question": _("question"),
        "first judgment": _("first judgment"),
        "reason": _("reason"),
        "long answer": _("long answer"),
        "short answer": _("short answer"),
    }
    summary_values = {
        "question": {GOOD: _("good"), BAD: _("bad")},
        "first judgment": {GOOD: _("good"), BAD: _("bad")},
        "reason": dict(BAD_REASON_LABELS + NULL_REASON_LABELS),
        "long answer": {NONE: _("none")},
        "short answer": {NONE: _("none"), YES: _("yes"), NO: _("no")},
    }
    rows_name = _("Questions")
    rows_help = _(
        "Upload a .jsonl file or a table (.csv, .tsv, .xlsx, .parquet). Each row needs an id, a question, and the name or title of its page."
    )
    rows_sample = (
        '{"id": "q1", "question": "when was the harbour of lund built", "document": "harbour.html"}\n'
        '{"id": "q2", "question": "who built the lighthouse", "document": "lighthouse.html"}\n'
    )
    posting = {
        "title": "Find the answer to a question on a page",
        "description": "Judge a question, choose the part of a page that answers it, and mark the words.",
        "reward_cents": 35,
    }
    gold_help = _(
        "“accepted” lists correct answers, and one of them is enough. For “long_answer”, quote the page: the smallest box around the quote is accepted. You can also give the number of a box, or -1 for no answer on the page. For “short_answer”, quote the words in that box, or enter “yes”, “no”, or “none”. Omit it to accept any short answer."
    )
    gold_sample = (
        '{"id": "g1", "question": "when was the harbour of lund built", "document": "harbour.html", '
        '"accepted": [{"long_answer": "The harbour of Lund", "short_answer": "in 1871"}, {"long_answer": [0, 1]}]}\n'
        '{"id": "g2", "question": "who painted the harbour", "document": "harbour.html", '
        '"accepted": [{"long_answer": -1}]}\n'
    )
    part_names = {
        "passage": _("Passage"),
        "short": _("Short answer"),
        "bad": _("The question"),
        "none": _("No answer on the page"),
    }
    part_template = "annotation/nq/_part.html"
    answer_template = "annotation/nq/_answer.html"
    paths_note = _("The answer types follow Figure 2 of the Natural Questions paper.")

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        """Return the page of an assignment's current stage."""
        draft = assignment.draft
        stage = current_stage(draft)
        context: dict[str, Any] = {
            "assignment": assignment,
            "stage": stage or "review",
            "question": assignment.item.content["question_text"],
            "draft": draft,
            "bad_reasons": BAD_REASON_LABELS,
            "null_reasons": NULL_REASON_LABELS,
            "may_reserve": stage != "question",
        }
        if stage == "long_answer":
            context |= _page_context(assignment)
        elif stage == "short_answer":
            context |= _box_context(assignment)
        elif stage is None:
            context |= _review_context(assignment)
        return f"annotation/nq/_{stage or 'review'}.html", context

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the question."""
        return {"question": content["question_text"]}

    def part(self, item: Any, part: Part) -> dict[str, Any]:
        """Return a passage below its heading and table head, the text of a short answer, or a claim about the page."""
        shown = {"part": part, "name": self.part_names[part["what"]]}
        if part["what"] == "passage":
            around = box_surroundings(item.tokenization.sha256, part["box"])
            lead = mark_safe(around.lead)  # noqa: S308  sanitized
            return shown | {"passage": _passage(item, part["box"]), "heading": around.heading, "lead": lead}
        if part["what"] == "short":
            page = tokenization_load(item.tokenization.sha256)
            texts, box = [span_text(span, page) for span in part["spans"]], page.candidates[part["box"]]
            passage = reading_text((box.start_token, box.end_token), page, most=PASSAGE_WORDS)
            return shown | {"text": " · ".join(texts) or KIND_NAMES[part["kind"]], "in_passage": passage}
        document = item.tokenization.document
        is_web = document.url.startswith(("https://", "http://"))
        shown |= {"url": document.url if is_web else "", "title": document.title}
        if part["what"] == "none":  # nobody can judge that without having read the page
            shown["page"] = mark_safe(page_display(item.tokenization.sha256))  # noqa: S308  sanitized at import
        return shown

    def marks(self, item: Any, answer: Answer) -> dict[str, Any] | None:
        """Return the box that was chosen and the words that were marked in it."""
        index = answer["long_answer"]["candidate_index"]
        if index == NO_ANSWER:
            return None
        box = tokenization_load(item.tokenization.sha256).candidates[index]
        return {
            "box": index,
            "tokens": [box.start_token, box.end_token],
            "spans": answer["short_answer"]["spans"],
            "words": _passage(item, index),
        }

    def answer(self, item: Any, answer: Answer) -> dict[str, Any]:
        """Return the passage that was chosen, if one was."""
        index = answer["long_answer"]["candidate_index"]
        return {"passage": _passage(item, index) if index != NO_ANSWER else ""}


PASSAGE_WORDS = 20  # that tell which passage a short answer is in
KIND_NAMES = {YES: _("Yes"), NO: _("No"), NONE: _("No short answer")}


def _passage(item: Any, index: int) -> str:
    row = item.tokenization
    return mark_safe(box_display(row.document.sha256, row.sha256, index))  # noqa: S308  sanitized


def _page_context(assignment: Any) -> dict[str, Any]:
    row = assignment.item.tokenization
    assert row is not None
    chosen = assignment.draft.get("long_answer", {}).get("candidate_index", -1)
    return {
        "document": row.document,
        "page": mark_safe(page_display(row.sha256)),  # noqa: S308  sanitized when it was imported
        "chosen": _suggestion(assignment, "long_answer").get("candidate_index", chosen),
        "candidate_count": row.candidate_count,
    }


def _suggestion(assignment: Any, stage: str) -> dict[str, Any]:
    """Return what an annotator marked at a stage without confirming it."""
    kept: dict[str, Any] = assignment.draft.get("suggestion", {}).get(stage, {})
    return kept


def _box_context(assignment: Any) -> dict[str, Any]:
    row = assignment.item.tokenization
    assert row is not None
    index = assignment.draft["long_answer"]["candidate_index"]
    kept = _suggestion(assignment, "short_answer") or assignment.draft.get("short_answer") or {}
    tokenization = tokenization_load(row.sha256)
    box = tokenization.candidates[index]
    around = box_surroundings(row.sha256, index)
    words = enumerate(tokenization.tokens[box.start_token : box.end_token], start=box.start_token)
    return {
        "document": row.document,
        "box_words": [[number, token.token] for number, token in words if not token.html_token],
        "box": mark_safe(box_display(row.document.sha256, row.sha256, index)),  # noqa: S308  sanitized
        "heading": around.heading,
        "lead": mark_safe(around.lead),  # noqa: S308  sanitized, as the next two
        "before": mark_safe(around.before),  # noqa: S308
        "after": mark_safe(around.after),  # noqa: S308
        "kept_spans": [span for span in kept.get("spans", []) if box.start_token <= span[0] < span[1] <= box.end_token],
        "kept_kind": kept.get("kind", ""),
    }


def _review_context(assignment: Any) -> dict[str, Any]:
    page = tokenization_of(assignment.item.tokenization)
    spans = assignment.draft.get("short_answer", {}).get("spans", [])
    return {"span_texts": [span_text(span, page) for span in spans] if page else []}


PAGES = NaturalQuestionsPages()
