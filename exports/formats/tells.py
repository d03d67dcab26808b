"""The kinds of content in release files that systems can be scored against."""

from enum import StrEnum


class Tells(StrEnum):
    """One kind of content that systems can be scored against."""

    ANNOTATIONS = "annotations"  # boxes and spans of pages
    LABELS = "labels"  # one of a few, an item each
    QRELS = "qrels"  # labels of pairs of question and answer
    ANSWERS = "answers"  # texts that answer numbered questions
    SENTENCES = "sentences"  # which sentence answers a question
