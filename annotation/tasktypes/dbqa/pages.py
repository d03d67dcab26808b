"""The pages of the DBQA task type."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.dbqa.task import PICK, DocumentBased
from annotation.tasktypes.writing.pages import WritingPages
from annotation.tasktypes.writing.task import RECOVER, REVIEW, WRITE, asks


class DocumentBasedPages(WritingPages):
    """The document beside the question, its chosen sentence marked."""

    key = "dbqa"
    task: ClassVar[DocumentBased] = DocumentBased()
    stage_names = {PICK: _("Choose a sentence"), **WritingPages.stage_names}
    headings = {
        PICK: _("Choose a sentence that answers a question worth asking"),
        WRITE: _("Write a question that the marked sentence answers"),
        REVIEW: _("Is this a good question for the marked sentence?"),
        RECOVER: _("Which sentence answers the question?"),
    }
    rows_name = _("Documents")
    rows_help = _(
        "Upload a .jsonl or .csv file. Each .jsonl row needs a title and a list of sentences. A .csv file needs one sentence per row, in a column named “sentences”."
    )
    rows_sample = (
        '{"id": "d1", "title": "贝加尔湖", "sentences": ["贝加尔湖位于俄罗斯西伯利亚的南部。", "它是世界上最深的淡水湖。"]}\n'
        '{"id": "d2", "title": "Lund", "sentences": ["Lund lies in Scania.", "Its cathedral was consecrated in 1145."]}\n'
    )
    posting = {
        "title": "Write a question for a sentence",
        "description": "Read a short document, choose a sentence, and write a question that it answers.",
        "reward_cents": 20,
    }

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the document with its chosen sentence, which is hidden from annotators who answer blind."""
        is_blind = asks(content) == RECOVER
        return {
            "title": content["title"],
            "choices": list(enumerate(content["sentences"])),
            "chosen": None if is_blind else content.get("sentence"),
            "asked": content.get("question", ""),
            "is_blind": is_blind,
        }


PAGES = DocumentBasedPages()
