"""ScoreMyKnownAnswers/2011-09-01: compare answers with known ones, and choose an action by the score.

SimplePlurality, the policy for a whole HIT, isn't supported: measuring agreement is up to the software that
collects the data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marketplace.protocol.answers import Answer
from marketplace.protocol.errors import RequestError

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
_NUMBERS = {
    "ApproveIfKnownAnswerScoreIsAtLeast": (0, 100),
    "RejectIfKnownAnswerScoreIsLessThan": (0, 100),
    "ExtendIfKnownAnswerScoreIsLessThan": (0, 100),
    "ExtendMaximumAssignments": (2, 1_000_000_000),
    "ExtendMinimumTimeInSeconds": (3600, 31_536_000),
}
MAX_IDENTIFIER = 255
_TEXTS = ("ApproveReason", "RejectReason")


@dataclass(frozen=True)
class KnownAnswers:
    """The policy of one HIT. ``key`` maps a question to its accepted answers; scores are percentages."""

    key: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]
    texts: Mapping[str, str]

    def correct(self, answers: list[Answer]) -> dict[str, bool]:
        """Return, for each known question, whether exactly its accepted values were given."""
        given = {answer.question: answer.text or "|".join(answer.selections) for answer in answers}
        return {question: _matches(given.get(question), wanted) for question, wanted in self.key.items()}

    def score(self, answers: list[Answer]) -> int:
        """Return the percentage of known questions answered correctly."""
        correct = self.correct(answers).values()
        return round(100 * sum(correct) / len(correct))


def parse_policy(given: Mapping[str, Any]) -> KnownAnswers:
    """Return the policy in a request.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.InvalidParameterValue.
    """
    if given["PolicyName"] != KNOWN_ANSWERS:
        raise _wrong(f"AssignmentReviewPolicy must be {KNOWN_ANSWERS}, not {given['PolicyName']!r}.")
    key: dict[str, frozenset[str]] = {}
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    for parameter in given.get("Parameters") or []:
        name, values = parameter.get("Key"), parameter.get("Values") or []
        if name == "AnswerKey":
            entries = parameter.get("MapEntries") or []
            key = {entry["Key"]: frozenset(entry.get("Values") or []) for entry in entries if entry.get("Key")}
        elif name in _NUMBERS and len(values) == 1 and values[0].isdecimal():
            numbers[name] = _number(name, values[0])
        elif name in _TEXTS and len(values) == 1:
            texts[name] = values[0]
        else:
            raise _wrong(f"{KNOWN_ANSWERS}: {name!r} with {values!r} is not one of its parameters.")
    if not all(key) or any(len(question) > MAX_IDENTIFIER for question in key):
        raise _wrong(f"The questions of an AnswerKey have names of at most {MAX_IDENTIFIER} characters.")
    if not key or not all(key.values()):
        raise _wrong(f"{KNOWN_ANSWERS} needs an AnswerKey with MapEntries, each with Values.")
    return KnownAnswers(key, numbers, texts)


def _number(name: str, text: str) -> int:
    low, high = _NUMBERS[name]
    if len(text) > 12 or not low <= int(text) <= high:
        raise _wrong(f"{KNOWN_ANSWERS}: {name} must be between {low} and {high}, not {text}.")
    return int(text)


def _matches(given: str | None, wanted: frozenset[str]) -> bool:
    """Compare exactly; multiple values are joined by ``|``."""
    if given is None:
        return False
    return frozenset([given]) == wanted or frozenset(given.split("|")) == wanted


def _wrong(message: str) -> RequestError:
    return RequestError("InvalidParameterValue", message)
