"""ANTIQUE's pairs (Hashemi et al. 2020, section 3) as material for replays, and a crowd with the paper's rates."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quality.gold.key_statistics import keys_needed
from quality.policies.policy import Policy
from replays import words
from replays.base import Asked
from simulation.assumed import assumed
from simulation.model import CrowdModel, Pace
from simulation.reading.relevance import LABELS
from simulation.world import DrawnWorld, chance_of

PAIRS, QUESTIONS, TEST_QUESTIONS, WORKERS, BATCHES = 31_385, 2_626, 200, 577, 7
REJECTED, NO_MAJORITY = 0.12, 0.13  # rates that the paper reports
POLICY = Policy()  # the paper's: 3% gold, a second round alone, one expert, a fifth inspected
PRIOR = (2_914, 8_754, 9_276, 13_067 - QUESTIONS)  # Table 1 without the best answers, which nobody judged


def model() -> CrowdModel:
    """Return a crowd with the rates that the paper reports."""
    pace = Pace(median=22.0, words=58)
    return assumed([str(label) for label in LABELS], no_majority=NO_MAJORITY, prior=PRIOR, alike=8.0, pace=pace)


@dataclass
class Material:
    """The pairs to judge and their true labels: the same in every process with the same seed."""

    asked: Asked

    def __post_init__(self) -> None:
        pairs = self.asked.count(PAIRS, 30)
        self.questions = min(self.asked.count(QUESTIONS, 6), pairs)
        chance = chance_of(self.asked.seed, "antique", "sizes")
        # Figure 2: half of the questions have nine answers or fewer, a fifth more than fourteen.
        weights = chance.lognormal(0, 0.55, self.questions)
        self.sizes = 1 + chance.multinomial(pairs - self.questions, weights / weights.sum())
        self.pairs = int(self.sizes.sum())
        self.workers = self.asked.count(WORKERS, 16)
        each = round(3.6 * self.pairs / self.workers)
        self.keys = max(24, keys_needed(people=self.workers, items_each=each, policy=POLICY))
        gold = list(self._gold())
        obvious = {(row["question"], row["answer"]): LABELS.index(row["accepted"][0]) for row in gold}
        self.gold, self.world = gold, DrawnWorld(model(), self.asked.seed, obvious)

    def rows(self, batch: int) -> Iterator[dict[str, Any]]:
        """Yield the pairs of one of the seven batches, with all pairs of a question in the same batch."""
        for number in range(batch, self.questions, BATCHES):
            chance = chance_of(self.asked.seed, "antique", "question", number)
            asked, own = words.question(chance), 1_000_000 + number
            best = words.answer(chance)
            for place in range(1, int(self.sizes[number]) + 1):
                yield {
                    "question_id": str(own),
                    "question": asked,
                    "answer_id": f"{own}_{place}",
                    "answer": words.answer(chance),
                    "possibly_correct_id": f"{own}_0",
                    "possibly_correct_answer": best,
                }

    def true(self, content: dict[str, Any]) -> int:
        """Return the true label of an item."""
        return LABELS[self.world.pair(content["question_text"], content["answer_text"]).true]

    def _gold(self) -> Iterator[dict[str, Any]]:
        for number in range(self.keys):
            chance, own = chance_of(self.asked.seed, "antique", "gold", number), 9_000_000 + number
            yield {
                "question_id": str(own),
                "question": words.question(chance),
                "answer_id": f"{own}_1",
                "answer": words.answer(chance),
                "possibly_correct_id": f"{own}_0",
                "possibly_correct_answer": words.answer(chance),
                "accepted": [LABELS[number % len(LABELS)]],
            }
