"""QuestionForm and AnswerKey: the test of a qualification and its scoring.

Schemas: QuestionForm 2005-10-01 and 2017-11-06, AnswerKey 2005-10-01.
"""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from marketplace.protocol import xml
from marketplace.protocol.answers import Answer
from marketplace.protocol.errors import RequestError

_FORMS = {"2005-10-01/QuestionForm.xsd", "2017-11-06/QuestionForm.xsd"}
_DEEPEST = 12
_KEY = "2005-10-01/AnswerKey.xsd"


@dataclass(frozen=True)
class Block:
    """A piece of text to read: ``kind`` is title, text, list or formatted."""

    kind: str
    text: str
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """One question of a test."""

    identifier: str
    name: str
    required: bool
    content: tuple[Block, ...]
    selections: tuple[tuple[str, str], ...] = ()
    least: int = 1
    most: int = 1
    style: str = "radiobutton"
    lines: int = 1
    default: str = ""

    @property
    def is_choice(self) -> bool:
        """Return whether the answer is a selection of one or more given options."""
        return bool(self.selections)


@dataclass(frozen=True)
class Form:
    """A test: its text blocks and questions, in the order of the document."""

    parts: tuple[Block | Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the questions only."""
        return tuple(part for part in self.parts if isinstance(part, Field))


@dataclass(frozen=True)
class AnswerKey:
    """Scores by question: a list of (set of selections, score), and the score of any other answer."""

    options: dict[str, list[tuple[frozenset[str], int]]]
    defaults: dict[str, int] = field(default_factory=dict)
    maximum: int | None = None

    def score(self, answers: list[Answer]) -> int:
        """Return the score of a test: the sum, or its percentage of the maximum."""
        given = {answer.question: frozenset(answer.selections) for answer in answers}
        total = 0
        for question, options in self.options.items():
            chosen = given.get(question, frozenset())
            matched = [score for selections, score in options if selections == chosen]
            total += matched[0] if matched else self.defaults.get(question, 0)
        return round(100 * total / self.maximum) if self.maximum else total


def parse_form(text: str) -> Form:
    """Return a test.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.XMLParseError: not a QuestionForm, no questions, or duplicate identifiers.
    """
    root = xml.read(text, what="Test")
    schema, kind = xml.kind_of(root)
    if kind != "QuestionForm" or schema not in _FORMS:
        raise _wrong(f"Test must be a QuestionForm, not {kind} ({schema}).")
    parts: list[Block | Field] = []
    for element in root:
        if xml.local(element) == "Overview":
            parts.extend(_blocks(element))
        elif xml.local(element) == "Question":
            parts.append(_field(element))
        else:
            raise _wrong(f"QuestionForm holds Overview and Question, not {xml.local(element)}.")
    identifiers = [part.identifier for part in parts if isinstance(part, Field)]
    if not identifiers or len(set(identifiers)) != len(identifiers):
        raise _wrong("A QuestionForm needs at least one Question, each with a QuestionIdentifier of its own.")
    return Form(tuple(parts))


def parse_key(text: str, form: Form) -> AnswerKey:
    """Return an answer key for a test.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.XMLParseError: not an AnswerKey, or it names a question or selection that the test lacks.
    """
    root = xml.read(text, what="AnswerKey")
    schema, kind = xml.kind_of(root)
    if kind != "AnswerKey" or schema != _KEY:
        raise _wrong(f"AnswerKey must be an AnswerKey ({xml.NAMESPACE}{_KEY}), not {kind} ({schema}).")
    choices = {field_.identifier: {name for name, _ in field_.selections} for field_ in form.fields if field_.is_choice}
    options: dict[str, list[tuple[frozenset[str], int]]] = {}
    defaults: dict[str, int] = {}
    for question in xml.children(root, "Question"):
        name = xml.text_of(xml.child(question, "QuestionIdentifier"))
        if name not in choices:
            raise _wrong(f"AnswerKey: {name!r} is not a question of the Test with answers to choose from.")
        options[name] = [_option(option, name, choices[name]) for option in xml.children(question, "AnswerOption")]
        defaults[name] = xml.integer_of(xml.child(question, "DefaultScore"), what="DefaultScore", default=0)
    mapping = xml.child(root, "QualificationValueMapping")
    percentage = None if mapping is None else xml.child(mapping, "PercentageMapping")
    maximum = None
    if percentage is not None:
        maximum = xml.integer_of(xml.child(percentage, "MaximumSummedScore"), what="MaximumSummedScore")
        if maximum < 1:
            raise _wrong("MaximumSummedScore must be at least 1.")
    return AnswerKey(options, defaults, maximum)


def _option(element: Element, question: str, known: set[str]) -> tuple[frozenset[str], int]:
    chosen = frozenset(xml.text_of(selection) for selection in xml.children(element, "SelectionIdentifier"))
    if not chosen <= known:
        raise _wrong(f"AnswerKey: question {question!r} has no selection {sorted(chosen - known)}.")
    return chosen, xml.integer_of(xml.child(element, "AnswerScore"), what="AnswerScore")


def _field(element: Element) -> Field:
    identifier = xml.text_of(xml.child(element, "QuestionIdentifier"))
    specification = xml.child(element, "AnswerSpecification")
    content = xml.child(element, "QuestionContent")
    if not identifier or specification is None or content is None:
        raise _wrong("A Question needs QuestionIdentifier, QuestionContent and AnswerSpecification.")
    base = {
        "identifier": identifier,
        "name": xml.text_of(xml.child(element, "DisplayName")),
        "required": xml.text_of(xml.child(element, "IsRequired")).lower() == "true",
        "content": tuple(_blocks(content)),
    }
    if (chosen := xml.child(specification, "SelectionAnswer")) is not None:
        return _choice(base, chosen)
    if (free := xml.child(specification, "FreeTextAnswer")) is not None:
        lines = xml.integer_of(xml.child(free, "NumberOfLinesSuggestion"), what="NumberOfLinesSuggestion", default=1)
        return Field(**base, lines=min(max(lines, 1), 40), default=xml.text_of(xml.child(free, "DefaultText")))  # type: ignore[arg-type]
    raise _wrong(f"Question {identifier!r}: only SelectionAnswer and FreeTextAnswer can be answered here.")


def _choice(base: dict[str, object], element: Element) -> Field:
    listed = xml.child(element, "Selections")
    selections = [] if listed is None else xml.children(listed, "Selection")
    pairs = tuple(
        (
            xml.text_of(xml.child(one, "SelectionIdentifier")),
            xml.text_of(xml.child(one, "Text")) or xml.text_of(xml.child(one, "FormattedContent")),
        )
        for one in selections
    )
    if not pairs or not all(name and text for name, text in pairs):
        raise _wrong(f"Question {base['identifier']!r}: every Selection needs a SelectionIdentifier and a Text.")
    least = xml.integer_of(xml.child(element, "MinSelectionCount"), what="MinSelectionCount", default=1)
    most = xml.integer_of(xml.child(element, "MaxSelectionCount"), what="MaxSelectionCount", default=1)
    if not 0 <= least <= most <= len(pairs):
        raise _wrong(
            f"Question {base['identifier']!r}: 0 ≤ MinSelectionCount ≤ MaxSelectionCount ≤ {len(pairs)}, please."
        )
    return Field(
        **base,  # type: ignore[arg-type]
        selections=pairs,
        least=least,
        most=most,
        style=xml.text_of(xml.child(element, "StyleSuggestion")) or "radiobutton",
    )


def _blocks(element: Element) -> list[Block]:
    found = []
    for inner in element:
        kind = xml.local(inner)
        if kind in ("Title", "Text"):
            found.append(Block(kind.lower(), xml.text_of(inner)))
        elif kind == "List":
            found.append(Block("list", "", tuple(xml.text_of(entry) for entry in inner)))
        elif kind == "FormattedContent":
            found.append(Block("formatted", _formatted("".join(inner.itertext()))))
        else:
            raise _wrong(f"{kind} cannot be shown here; use Title, Text, List or FormattedContent.")
    return found


def _formatted(text: str) -> str:
    """Return XHTML that is well-formed and not deeply nested: other text can be very slow in a browser's parser."""
    root = xml.read(f"<div>{text}</div>", what="FormattedContent")
    level: list[Element] = [root]
    for _depth in range(_DEEPEST):
        level = [inner for element in level for inner in element]
    if level:
        raise _wrong(f"FormattedContent may be nested {_DEEPEST} deep at most.")
    return text


def _wrong(message: str) -> RequestError:
    return RequestError("XMLParseError", message)
