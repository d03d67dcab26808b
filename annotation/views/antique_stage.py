"""The one stage of the ANTIQUE process as a page."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment
from annotation.tasktypes.antique.answers import STAGE

# (label, name, definition): section 3.1 of the paper, in our words.
LABELS = (
    (4, _("Convincing"), _("It looks reasonable and convincing: as good as the possibly correct answer, or better. It need not say the same.")),
    (3, _("An answer, not convincing"), _("It can be an answer, but it does not convince; there should be a much better one.")),
    (2, _("In context, no answer"), _("It does not answer the question, or not in a reasonable way, but it is about the same matter.")),
    (1, _("Out of context"), _("It has nothing to do with the question, or makes no sense.")),
)  # fmt: skip
# (the way that leads here, question, label on yes or None to go on, label on no)
STEPS = (
    ("", _("Is it about the matter of the question, and does it make sense?"), 1),
    ("y", _("Does it answer the question, in a reasonable way?"), 2),
    ("yy", _("Is it convincing: as good as the possibly correct answer, or better?"), 3),
)


def relevance_context(content: dict[str, Any]) -> dict[str, Any]:
    """Return what the page of a pair shows: of an item, an example or a sample alike."""
    return {
        "question": content.get("question_text") or content["question"],
        "candidate": content.get("answer_text") or content["answer"],
        "possibly_correct": content["possibly_correct_answer"],
        "labels": LABELS,
        "steps": STEPS,
    }


def stage_page(assignment: Assignment) -> tuple[str, dict[str, Any]]:
    """Return the template and the context of an assignment."""
    context = {"assignment": assignment, "stage": STAGE, "draft": assignment.draft}
    return "annotation/antique/_relevance.html", context | relevance_context(assignment.item.content)
