"""A world of questions about pages.

For each question: whether it is good, how many people find an answer, where, and with which words.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulation.world import chance_of, plain

BAD_REASONS = ("ambiguous", "incomprehensible", "false_presupposition", "opinion", "not_a_request")
# Where long answers lie (Kwiatkowski et al. 2019, section 3.3), by the tag of the box.
TAGS = {"p": 0.73, "table": 0.19, "tr": 0.015, "ul": 0.032, "li": 0.033}


@dataclass(frozen=True, slots=True)
class Shares:
    """The average properties of questions.

    Attributes
    ----------
    bad
        Share of judgments that a question is bad.
    long, spans, yes_no
        Shares of all annotations with a long answer, with words in it, with yes or no.
    first, second
        Shares of a question's long answers that the most popular box has, and the next one.
    firmness
        The similarity of questions: with a small value, people agree about most of them.
    """

    bad: float = 0.14
    long: float = 0.49
    spans: float = 0.35
    yes_no: float = 0.01
    first: float = 0.83
    second: float = 0.13
    firmness: float = 0.9


@dataclass(frozen=True, slots=True)
class Asked:
    """The shares of careful readers' answers to a question.

    ``kind``: spans, yes, no or none, in the answering boxes. ``places``: numbers from 0 to 1 that determine boxes and
    words.
    """

    bad: float
    found: float
    boxes: tuple[float, float, float]
    tag: str
    kind: str
    places: tuple[float, float, float, float]


@dataclass(frozen=True)
class QuestionWorld:
    """A world in which the right answers to a question follow from its text and a seed."""

    seed: int
    shares: Shares = Shares()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_asked", lru_cache(maxsize=50_000)(self._drawn))

    def asked(self, question: str) -> Asked:
        """Return careful readers' answers to a question."""
        found: Asked = self._asked(plain(question))  # type: ignore[attr-defined]
        return found

    def _drawn(self, question: str) -> Asked:
        chance, of = chance_of(self.seed, "asked", question), self.shares
        found = of.long / (1 - of.bad)
        boxes = chance.dirichlet(np.array([of.first, of.second, 1 - of.first - of.second]) * 8)
        kinds = np.array([of.spans, of.yes_no / 2, of.yes_no / 2, of.long - of.spans - of.yes_no]) / of.long
        return Asked(
            float(chance.beta(of.bad * 2 * of.firmness, (1 - of.bad) * 2 * of.firmness)),
            float(chance.beta(found * of.firmness, (1 - found) * of.firmness)),
            (float(boxes[0]), float(boxes[1]), float(boxes[2])),
            str(chance.choice(list(TAGS), p=np.array(list(TAGS.values())) / sum(TAGS.values()))),
            ("spans", "yes", "no", "none")[int(chance.choice(4, p=kinds))],
            tuple(float(one) for one in chance.random(4)),  # type: ignore[arg-type]
        )

    def boxes(self, question: str, tags: list[str]) -> list[int]:
        """Return the three boxes that answer a question, the most popular first; none for a page without boxes."""
        asked = self.asked(question)
        fitting = [box for box, tag in enumerate(tags) if tag == asked.tag] or list(range(len(tags)))
        if not fitting:
            return []
        # Answers lie near the top: half of them in the first fifth of a page.
        ranks = [int(len(fitting) * place**2.3) for place in asked.places[:3]]
        return [fitting[min(rank, len(fitting) - 1)] for rank in ranks]

    def words(self, question: str, count: int, variant: int) -> tuple[int, int]:
        """Return the range of words that answers a question, in a box of this length; variants differ at the edges."""
        place, size = self.asked(question).places[3], 1 + int(4 * self.asked(question).places[0])
        start = min(int(place * count), max(0, count - 1))
        end = min(count, start + size)
        if variant % 3 == 1:
            end = min(count, end + 1)
        if variant % 3 == 2:
            start = max(0, start - 1)
        return start, max(end, start + 1)
