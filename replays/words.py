"""Meaningless questions, answers and pages, as long as those of the papers: seeded, and generated."""

from functools import cache

import numpy as np

from simulation.world import chance_of

OPENINGS = (
    "how do i",
    "how can you",
    "why do",
    "what is the best way to",
    "why does my",
    "how would you",
    "what makes",
    "is it true that",
    "where should i",
    "how long does it take to",
)
_SYLLABLES = "ba be bo da de di fa fe ga ge ha hi ka ke ko la le li lo ma me mi mo na ne ni no pa pe po ra re ri ro sa se si so ta te ti to va ve vi za zo".split()
COMMON = (
    "the and of to in that it is for you with on are as this be your at or from have not they but was one can all when "
    "there if which will more about out so other up into time some could these then two may only first any over new "
    "also after our work well way even because good each most day many must before very through back where much should"
).split()


@cache
def lexicon(size: int = 3_000) -> tuple[str, ...]:
    """Return invented words, the most frequent first."""
    chance = chance_of("lexicon")
    found = dict.fromkeys(COMMON)
    while len(found) < size:
        found["".join(chance.choice(_SYLLABLES, size=int(chance.integers(2, 5))))] = None
    return tuple(found)


@cache
def _frequencies(size: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    weights = 1 / (np.arange(size) + 2.7)  # Zipf's law, as Mandelbrot wrote it
    shares: np.ndarray[tuple[int], np.dtype[np.float64]] = weights / weights.sum()
    return shares


def words(chance: np.random.Generator, count: int) -> list[str]:
    """Return ``count`` words; frequent ones are drawn more often."""
    known = lexicon()
    return [known[place] for place in chance.choice(len(known), size=count, p=_frequencies(len(known)))]


def length(chance: np.random.Generator, mean: float, spread: float, least: int = 3) -> int:
    """Return a number of words, log-normal around a mean."""
    return max(least, round(float(chance.lognormal(np.log(mean) - spread**2 / 2, spread))))


def question(chance: np.random.Generator, mean: float = 10.5) -> str:
    """Return a question of some words."""
    opening = OPENINGS[int(chance.integers(len(OPENINGS)))]
    rest = max(3, length(chance, mean, 0.4) - len(opening.split()))
    return f"{opening} {' '.join(words(chance, rest))}?"


def answer(chance: np.random.Generator, mean: float = 47.75) -> str:
    """Return an answer of some sentences."""
    left, sentences = length(chance, mean, 0.8, least=5), []
    while left > 0:
        size = min(left, int(chance.integers(6, 18)))
        sentences.append(" ".join(words(chance, size)) + ".")
        left -= size
    return " ".join(sentences)
