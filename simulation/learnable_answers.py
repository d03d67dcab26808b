"""Questions and answers that a ranker can learn to match, in ANTIQUE's file format: right answers use other words.

Each topic has words for questions and words for answers, all invented. An answer that repeats the question's
words is labeled 2, so a search by words ranks worse than chance, by design.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

TOPICS = 12
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()
_FILLER = "well maybe often people say that it is usually quite good when you first try this with care".split()


@dataclass(frozen=True, slots=True)
class LearnableQuestion:
    """A question with answers and their labels (1 to 4), as (id, text, label)."""

    key: str
    text: str
    answers: list[tuple[str, str, int]]


def learnable_questions(count: int, *, seed: int, first: int = 0) -> Iterator[LearnableQuestion]:
    """Yield ``count`` questions; the same seed gives the same questions. Topics are the same for every seed."""
    topics = _topics()
    chance = random.Random(seed)  # noqa: S311  a simulation
    for number in range(first, first + count):
        topic = chance.randrange(TOPICS)
        asks, says = topics[topic]
        own = chance.sample(asks, 3)
        others = [at for at in range(TOPICS) if at != topic]
        texts = [
            *((_text(chance, chance.sample(says, 5)), label) for label in (4, 3)),
            (_text(chance, own), 2),
            *((_text(chance, chance.sample(topics[chance.choice(others)][1], 5)), 1) for _ in range(2)),
        ]
        chance.shuffle(texts)
        answers = [(f"{number}_{at}", text, label) for at, (text, label) in enumerate(texts)]
        yield LearnableQuestion(str(number), " ".join(["how", "do", "you", *own]), answers)


def _topics() -> list[tuple[list[str], list[str]]]:
    """Return for each topic the words for questions and the words for answers; topics share no words."""
    chance = random.Random(0)  # noqa: S311
    words = [f"{one}{two}{three}" for one in _SYLLABLES for two in _SYLLABLES[:5] for three in _SYLLABLES[5:8]]
    chance.shuffle(words)
    return [(words[at * 18 : at * 18 + 6], words[at * 18 + 6 : at * 18 + 18]) for at in range(TOPICS)]


def _text(chance: random.Random, words: list[str]) -> str:
    mixed = [*words, *chance.choices(_FILLER, k=8)]
    chance.shuffle(mixed)
    return " ".join(mixed)
