"""The pages of the ANTIQUE task type."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.antique.answers import STAGE
from annotation.tasktypes.base import Pages

# (label, name, definition): section 3.1 of the paper, in our words.
LABELS = (
    (
        4,
        _("Convincing"),
        _(
            "It's reasonable and convincing: as good as the possibly correct answer, or better. It can say something different."
        ),
    ),
    (
        3,
        _("An answer, but not a convincing one"),
        _("It could answer the question but isn't convincing. A much better answer should exist."),
    ),
    (
        2,
        _("On topic, but not an answer"),
        _("It doesn't answer the question in a reasonable way, but it's about the same topic."),
    ),
    (1, _("Out of context"), _("It has nothing to do with the question, or makes no sense.")),
)
# For pairs without a possibly correct answer.
LABELS_ALONE = ((4, LABELS[0][1], _("It's reasonable and convincing.")), *LABELS[1:])
# (the way that leads here, question, label on yes or None to go on, label on no)
STEPS = (
    ("", _("Is it on the topic of the question, and does it make sense?"), 1),
    ("y", _("Does it answer the question in a reasonable way?"), 2),
    ("yy", _("Is it convincing: at least as good as the answer under “Possibly correct answer”?"), 3),
)
STEPS_ALONE = (*STEPS[:2], ("yy", _("Is it convincing?"), 3))


class AntiquePages(Pages):
    """One stage: the pair, the flowchart and the labels together."""

    key = "antique"
    summary_names = {"label": _("label"), "way": _("answers in the flowchart")}
    posting = {"reward_cents": 8}  # $9 an hour at the usual time and more
    rows_name = _("Pairs")
    rows_help = _(
        "Upload a .jsonl file or a table (.csv, .tsv, .xlsx, .parquet). Each row needs the id and text of a question and of an answer to judge. It can also include the answer that the asker chose."
    )
    rows_sample = (
        '{"question_id": "17", "question": "How do I peel an egg?", "answer_id": "17_2", "answer": "Under water.", '
        '"possibly_correct_id": "17_0", "possibly_correct_answer": "Use eggs that are a week old."}\n'
        '{"question_id": "17", "question": "How do I peel an egg?", "answer_id": "17_5", "answer": "I never could.", '
        '"possibly_correct_id": "17_0", "possibly_correct_answer": "Use eggs that are a week old."}\n'
    )
    gold_help = _("“accepted” lists the correct labels. In a table, write them as 3 4 or [3, 4].")
    gold_sample = (
        '{"question_id": "18", "question": "How do I sharpen a knife?", "answer_id": "18_1", "answer": "On a wet stone.", '
        '"possibly_correct_id": "18_0", "possibly_correct_answer": "With a whetstone.", "accepted": [3, 4]}\n'
    )
    script = "annotation/antique.js"
    stage_names = {STAGE: _("Question–answer pair")}
    training_stage = STAGE
    measures = {"label": _("Label")}
    grades = LABELS
    paths = (
        ("label_4", _("4 – convincing")),
        ("label_3", _("3 – not convincing")),
        ("label_2", _("2 – on topic")),
        ("label_1", _("1 – out of context")),
    )
    summary_values = {
        "label": {key.removeprefix("label_"): name for key, name in paths},
        "way": {"direct": _("none")},
    }

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        """Return the page of the only stage."""
        context = {"assignment": assignment, "stage": STAGE, "draft": assignment.draft, "may_reserve": True}
        return "annotation/antique/_relevance.html", context | self.item(assignment.item.content)

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the pair with its labels and the steps of the flowchart."""
        known = content.get("possibly_correct_answer", "")
        return {
            "question": content.get("question_text") or content["question"],
            "candidate": content.get("answer_text") or content["answer"],
            "possibly_correct": known,
            "labels": LABELS if known else LABELS_ALONE,
            "steps": STEPS if known else STEPS_ALONE,
        }


PAGES = AntiquePages()
