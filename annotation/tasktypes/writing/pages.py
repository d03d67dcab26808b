"""The shared pages of task types in which people write questions."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.base import Pages, options_from
from annotation.tasktypes.writing.task import (
    ACCEPT,
    EDIT,
    FOUND,
    MISSED,
    OPTIONS,
    RECOVER,
    REJECT,
    REVIEW,
    WRITE,
    Writing,
    asks,
)

REASONS = (
    ("answer", _("It gives the answer away")),
    ("wrong", _("It asks for a different answer")),
    ("unclear", _("It can't be understood by itself")),
    ("language", _("It has language errors")),
    ("duplicate", _("It repeats another question")),
    ("other", _("Something else")),
)


class WritingPages(Pages):
    """Pages for writing, reviewing and answering blind: a template each, around the item."""

    task: ClassVar[Writing]
    headings: ClassVar[dict[str, Any]]  # by stage
    script = "annotation/writing.js"
    stage_names = {
        WRITE: _("Write a question"),
        REVIEW: _("Review a question"),
        RECOVER: _("Answer a question"),
    }
    summary_names = {
        "question": _("question"),
        "answer": _("answer"),
        "decision": _("decision"),
        "was": _("original question"),
        "reason": _("reason"),
    }
    summary_values = {
        "decision": {ACCEPT: _("accepted"), EDIT: _("edited"), REJECT: _("rejected")},
        "reason": dict(REASONS),
    }
    paths = ((WRITE, _("Question written")),)
    option_names = {
        "review": (
            _("Review by a second annotator"),
            _(
                "A second annotator accepts, edits, or rejects each question. Rejected questions aren't counted, and replacements are requested."
            ),
        ),
        "recovery": (
            _("Blind answers"),
            _(
                "A third annotator answers each question without seeing which sentence or fact it's about. This is the only reliability check for written questions."
            ),
        ),
        "paste": (
            _("Allow writers to paste text"),
            _(
                "The number of pasted characters is recorded, and writers are told, if the consent text says that behavior is compared."
            ),
        ),
    }
    remark_texts = {
        "empty": _("Write a question."),
        "short": _("This is too short to be a question. Write a complete question."),
        "answer": _("The question contains its answer. Rephrase it."),
        "copy": _("The question copies the sentence. Use your own words."),
        "taken": _("This question already exists in this campaign. Write a different one."),
        "long": _("This is long for a question. Can you shorten it?"),
        "hint": _("The question contains the answer as part of a word. Does this give the answer away?"),
        "near": _("Much of this is copied from the sentence. A question in your own words is better."),
        "subject": _("The question doesn't name its subject."),
        "several": _("This looks like several questions. Ask only one."),
    }

    outcome_names = {
        (REVIEW, ACCEPT): _("Accepted"),
        (REVIEW, EDIT): _("Edited"),
        (REVIEW, REJECT): _("Rejected"),
        (RECOVER, FOUND): _("The blind answer matches"),
        (RECOVER, MISSED): _("The blind answer doesn't match"),
    }

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        """Return the page of an assignment's current stage."""
        content, draft = assignment.item.content, assignment.draft
        stage = self.task.current_stage(draft, content) or self.task.stages[-1]
        shared = stage in (WRITE, REVIEW, RECOVER)
        context = {
            "assignment": assignment,
            "stage": stage,
            "draft": draft,
            "may_reserve": stage != self.task.writing[0],
            "kept": draft.get("suggestion", {}).get(stage) or draft.get(stage) or {},
            "heading": self.headings[stage],
            "options": options_from(OPTIONS, assignment.campaign.options),
            "reasons": REASONS,
            "item_template": self.item_template,
            "is_first": stage == self.task.writing[0] or asks(content) != WRITE,
        }
        chosen = draft.get(self.task.writing[0], {}) if stage == WRITE else {}
        return f"annotation/{'writing' if shared else self.key}/_{stage}.html", context | self.item(
            {**content, **chosen}
        )

    @property
    def examples_template(self) -> str:
        """The template of worked examples."""
        return "annotation/writing/_examples.html"

    @property
    def keys_template(self) -> str:
        """The template of the help on keyboard shortcuts."""
        return "annotation/writing/_keys.html"

    @property
    def choices_template(self) -> str:
        """The template in place of the training round's labels, which these task types don't have."""
        return "annotation/writing/_examples.html"
