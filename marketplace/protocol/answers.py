"""QuestionFormAnswers: a worker's answers, as the XML of an assignment's ``Answer``."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from marketplace.protocol import xml

_SCHEMA = f"{xml.NAMESPACE}2005-10-01/QuestionFormAnswers.xsd"
RESERVED = frozenset({"assignmentId", "hitId", "turkSubmitTo", "workerId"})
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
MAX_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class Answer:
    """One answer: free text, or the identifiers of the selected options."""

    question: str
    text: str | None = None
    selections: tuple[str, ...] = ()


def from_form(fields: Iterable[tuple[str, str]]) -> list[Answer]:
    """Return the answers in a posted form, in order of first appearance.

    Names that the protocol reserves are left out. A name with several values (checkboxes) becomes one
    answer with the values joined by ``|``.
    """
    values: dict[str, list[str]] = {}
    for name, value in fields:
        if name and name not in RESERVED:
            values.setdefault(name, []).append(value)
    return [Answer(name, text="|".join(given)) for name, given in values.items()]


def to_xml(answers: Iterable[Answer]) -> str:
    """Return the XML document; characters that XML doesn't allow are left out."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n', f'<QuestionFormAnswers xmlns="{_SCHEMA}">']
    for answer in answers:
        parts.append(f"<Answer><QuestionIdentifier>{_clean(answer.question)}</QuestionIdentifier>")
        parts.extend(f"<SelectionIdentifier>{_clean(chosen)}</SelectionIdentifier>" for chosen in answer.selections)
        if answer.text is not None:
            parts.append(f"<FreeText>{_clean(answer.text)}</FreeText>")
        parts.append("</Answer>")
    return "".join([*parts, "</QuestionFormAnswers>"])


def from_xml(text: str) -> list[Answer]:
    """Return the answers from a document written by ``to_xml``."""
    root = xml.read_own(text)
    return [
        Answer(
            question=xml.text_of(xml.child(element, "QuestionIdentifier")),
            text=None if (free := xml.child(element, "FreeText")) is None else "".join(free.itertext()),
            selections=tuple(xml.text_of(chosen) for chosen in xml.children(element, "SelectionIdentifier")),
        )
        for element in xml.children(root, "Answer")
    ]


def _clean(text: str) -> str:
    return escape(_NOT_XML.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))
