"""The pages of the KBQA task type."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.kbqa.task import KnowledgeBase
from annotation.tasktypes.writing.pages import WritingPages
from annotation.tasktypes.writing.task import RECOVER, REVIEW, WRITE, asks


class KnowledgeBasePages(WritingPages):
    """Pages that show the fact beside the question."""

    key = "kbqa"
    task: ClassVar[KnowledgeBase] = KnowledgeBase()
    headings = {
        WRITE: _("Write a question whose answer is the object"),
        REVIEW: _("Is this a good question for the fact?"),
        RECOVER: _("Which fact answers the question?"),
    }
    rows_name = _("Triples")
    rows_help = _(
        "Upload a .jsonl file or a table (.csv, .tsv, .xlsx, .parquet). Each row needs a triple, or a subject, predicate, and object. It can also include aliases of the subject and other facts about it."
    )
    rows_sample = (
        '{"id": "t1", "triple": "高等数学 ||| 出版时间 ||| 2004年", "facts": ["出版社 ||| 高等教育出版社", "出版时间 ||| 2004年"]}\n'
        '{"id": "t2", "subject": "Lund", "predicate": "river", "object": "Höje å", "aliases": ["the city of Lund"]}\n'
    )
    posting = {
        "title": "Write a question for a fact",
        "description": "Read one fact and write a question that it answers.",
        "reward_cents": 12,
    }

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the fact; for annotators who answer blind, the question and all facts of its subject."""
        is_blind = asks(content) == RECOVER
        fact = None if is_blind else [content["subject"], content["predicate"], content["object"]]
        facts = list(enumerate(content["facts"])) if is_blind else []
        return {
            "fact": fact,
            "aliases": [] if is_blind else content["aliases"],
            "asked": content.get("question", ""),
            "subject": content["subject"],
            "choices": [(place, f"{name}: {value}") for place, (name, value) in facts],
        }


PAGES = KnowledgeBasePages()
