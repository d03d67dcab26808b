"""The pages of the toy task type."""

from typing import Any

from annotation.tasktypes.base import Pages
from tests.toytype.task import LABELS


class ChoicePages(Pages):
    """One form."""

    key = "choice"
    stage_names = {"choice": "Colour"}
    measures = {"label": "Colour"}
    grades = tuple((label, label.capitalize(), "") for label in LABELS)
    paths = tuple((label, label.capitalize()) for label in LABELS)

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        context = {"assignment": assignment, "stage": "choice", "draft": assignment.draft}
        return "annotation/choice/_choice.html", context | self.item(assignment.item.content)

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        return {"text": content["text"], "labels": [(label, label.capitalize(), "") for label in LABELS]}


PAGES = ChoicePages()
