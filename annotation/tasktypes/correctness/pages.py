"""The pages of the correctness task type."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.base import Pages
from annotation.tasktypes.correctness.task import CORRECT, INCORRECT, STAGE

LABELS = (
    (CORRECT, _("Correct"), _("It answers the question, in these or other words, and says nothing wrong about it.")),
    (INCORRECT, _("Incorrect"), _("It doesn't answer the question, or part of what it says is wrong.")),
)


class CorrectnessPages(Pages):
    """One stage: the question, the references, the answer, and two labels."""

    key = "correctness"
    summary_names = {"label": _("label")}
    summary_values = {"label": {CORRECT: _("correct"), INCORRECT: _("incorrect")}}
    posting = {"reward_cents": 5}
    rows_name = _("Answers")
    rows_help = _(
        "Upload a .jsonl file or a table (.csv, .tsv, .xlsx, .parquet). Each row needs the id and text of a question and an answer to judge, and can have reference answers. To compare systems, use the Systems page instead: it draws a random sample and hides the systems' names."
    )
    rows_sample = (
        '{"question_id": "17", "question": "Who wrote Dracula?", "references": ["Bram Stoker"], "answer": "Stoker"}\n'
        '{"question_id": "17", "question": "Who wrote Dracula?", "references": ["Bram Stoker"], "answer": "Mary Shelley"}\n'
    )
    gold_help = _("“accepted” lists the correct labels: correct or incorrect.")
    gold_sample = (
        '{"question_id": "18", "question": "Which planet is the largest?", "references": ["Jupiter"], '
        '"answer": "Saturn", "accepted": ["incorrect"]}\n'
    )
    stage_names = {STAGE: _("Correctness")}
    training_stage = STAGE
    measures = {"label": _("Label")}
    grades = LABELS
    paths = ((CORRECT, _("Correct")), (INCORRECT, _("Incorrect")))

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        """Return the page of the only stage."""
        context = {"assignment": assignment, "stage": STAGE, "draft": assignment.draft, "may_reserve": True}
        return "annotation/correctness/_correctness.html", context | self.item(assignment.item.content)

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the question, the references, the answer, and the labels."""
        return {
            "question": content["question"],
            "references": content.get("references", []),
            "candidate": content["answer"],
            "labels": LABELS,
        }


PAGES = CorrectnessPages()
