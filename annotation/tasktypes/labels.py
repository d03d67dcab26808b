"""The base of task types whose answer is one of a few labels: gold, expert judgments and agreement use the labels."""

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from annotation.tasktypes.base import Accepted, Answer, Measure, Part, Said, Scale
from annotation.tasktypes.columns import Column, Filled, kind_of
from documents.html.tokens import Tokenization
from storage.tables.faults import RowError
from storage.tables.values import Spelling, text_of

LABEL = "label"  # the key of the one part that experts judge, and of the measure


class Labels:
    """A base with the quality-control members of `annotation.tasktypes.base.TaskType`, for answers that are votes."""

    labels: ClassVar[tuple[Any, ...]]
    is_ordinal: ClassVar[bool]
    stages: ClassVar[tuple[str, ...]]

    def vote_key(self, answer: Answer) -> Hashable:
        """Return a key that is equal for answers that vote for the same label."""
        raise NotImplementedError

    @property
    def answer_columns(self) -> tuple[Filled, ...]:
        """Return the one column of an answer: its label."""
        order = ", the best first" if self.is_ordinal else ""
        meaning = f"What the annotator chose of {', '.join(map(str, self.labels))}{order}."
        return (Filled(Column(LABEL, kind_of(self.labels), meaning), self.vote_key),)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return the one measure of agreement: the label."""
        if self.is_ordinal:
            return (Measure(LABEL, Scale.ORDINAL, self.vote_key, labels=tuple(reversed(self.labels))),)
        return (Measure(LABEL, Scale.NOMINAL, self.vote_key),)

    @property
    def grades(self) -> tuple[Any, ...]:
        """Return the labels, from which an expert chooses one."""
        return self.labels

    def accepted_from(self, row: Mapping[str, Any], page: Tokenization | None) -> Accepted:
        """Return the right labels; a cell lists them as JSON, or separated by spaces, commas or semicolons."""
        given = row.get("accepted")
        accepted = self._listed(given) if isinstance(given, str) else given
        if not isinstance(accepted, list) or not accepted or not all(self._is_label(one) for one in accepted):
            some = " ".join(map(str, self.labels[:2]))
            raise RowError(
                f"expected some of {', '.join(map(str, self.labels))}, as in {some} or [{some.replace(' ', ', ')}]; found {str(given)[:80]!r}",
                "accepted",
            )
        if set(accepted) == set(self.labels):
            raise RowError("a key that accepts every label tests nobody", "accepted")
        return accepted

    def _listed(self, cell: str) -> Any:
        """Return the list in a table's cell: labels where a part is spelled like one, else the parts."""
        parts: Any = re.split(r"[\s,;|]+", cell.strip())
        if cell.strip().startswith("["):
            try:
                parts = json.loads(cell)
            except (ValueError, RecursionError):
                return None
        of = {text_of(label): label for label in self.labels}
        spelling = Spelling.of(of)
        return [of.get(spelling.text(text_of(part)), part) for part in parts]

    def _is_label(self, value: Any) -> bool:
        return any(type(value) is type(label) and value == label for label in self.labels)

    def agreed_on(self, answers: Sequence[Answer]) -> Accepted | None:
        """Return the one label that all answers vote for."""
        labels = {self.vote_key(answer) for answer in answers}
        return list(labels) if len(labels) == 1 else None

    def missed(self, accepted: Accepted, answer: Answer) -> str:
        """Return the only stage if the label isn't one of the accepted labels."""
        return "" if self.vote_key(answer) in accepted else self.stages[-1]

    def parts(self, answers: Sequence[Answer]) -> list[Part]:
        """Return the label as the only part: an expert judges the item whatever annotators said."""
        return [{"key": LABEL}]

    def parts_of_key(self, accepted: Accepted) -> list[Part]:
        """Return the label."""
        return [{"key": LABEL}]

    def confirms(self, accepted: Accepted, said: Said) -> bool:
        """Return whether the expert's label is one that the key accepts."""
        return said.get(LABEL) in accepted
