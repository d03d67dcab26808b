"""A world for any kind of campaign: pairs to label, questions about pages, and questions to write."""

from simulation.assumed import assumed
from simulation.questions import Asked, QuestionWorld
from simulation.reading.relevance import LABELS
from simulation.reading.writing import WritingWorld
from simulation.world import DrawnWorld, Judged


class AnyWorld:
    """The right answers for any page that the crowd can read; they follow from texts and a seed."""

    def __init__(self, seed: int) -> None:
        self.model = assumed([str(label) for label in LABELS], no_majority=0.13, alike=8.0)
        self._pairs, self._questions = DrawnWorld(self.model, seed), QuestionWorld(seed)
        self.edits = WritingWorld(seed).edits

    def pair(self, question: str, answer: str) -> Judged:
        """Return the right labels of a pair."""
        return self._pairs.pair(question, answer)

    def asked(self, question: str) -> Asked:
        """Return the right answers to a question about a page."""
        return self._questions.asked(question)

    def boxes(self, question: str, tags: list[str]) -> list[int]:
        """Return the boxes of a page that answer a question."""
        return self._questions.boxes(question, tags)

    def words(self, question: str, count: int, variant: int) -> tuple[int, int]:
        """Return the range of words in a box that answers a question."""
        return self._questions.words(question, count, variant)
