"""ScoreMyKnownAnswers/2011-09-01: compare answers with known ones, and what to do about the score.

SimplePlurality, the policy over a whole HIT, is not run here: agreement is the business of whoever
collects the data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marketplace.protocol.answers import Answer
from marketplace.protocol.errors import RequestError

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
_NUMBERS = (
    "ApproveIfKnownAnswerScoreIsAtLeast",
    "RejectIfKnownAnswerScoreIsLessThan",
    "ExtendIfKnownAnswerScoreIsLessThan",
    "ExtendMaximumAssignments",
    "ExtendMinimumTimeInSeconds",
)
_TEXTS = ("ApproveReason", "RejectReason")


@dataclass(frozen=True)
class KnownAnswers:
    """The policy of one HIT. ``key`` maps a question to its accepted answers; scores are percentages."""

    key: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]
    texts: Mapping[str, str]

    def correct(self, answers: list[Answer]) -> dict[str, bool]:
        """Return for each known question whether it was answered as known, by exact equality."""
        given = {answer.question: answer.text or "|".join(answer.selections) for answer in answers}
        return {question: given.get(question) in accepted for question, accepted in self.key.items()}

    def score(self, answers: list[Answer]) -> int:
        """Return the percentage of known questions answered as known."""
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
            numbers[name] = int(values[0])
        elif name in _TEXTS and len(values) == 1:
            texts[name] = values[0]
        else:
            raise _wrong(f"{KNOWN_ANSWERS}: {name!r} with {values!r} is not one of its parameters.")
    if not key:
        raise _wrong(f"{KNOWN_ANSWERS} needs an AnswerKey with MapEntries.")
    return KnownAnswers(key, numbers, texts)


def _wrong(message: str) -> RequestError:
    return RequestError("InvalidParameterValue", message)
