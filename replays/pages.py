"""Pages as long as those of Natural Questions, made of invented words: headings, paragraphs, tables, lists."""

from html import escape

import numpy as np

from replays.words import length, words
from simulation.world import chance_of

MEAN_WORDS, SPREAD = (
    5_800,
    0.75,
)  # of a page: a record of the development set has 0.88 MB, a long tail ten times as much
MOST_WORDS = 60_000


def page(seed: int, number: int, mean: float = MEAN_WORDS) -> str:
    """Return a page as HTML."""
    chance = chance_of(seed, "page", number)
    left = min(length(chance, mean, SPREAD, least=200), MOST_WORDS)
    title = " ".join(words(chance, 2)).title()
    parts = [f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"]
    while left > 0:
        part, used = _part(chance)
        parts.append(part)
        left -= used
    return "".join(parts) + "</body></html>"


def _part(chance: np.random.Generator) -> tuple[str, int]:
    """Return a piece of a page, and its number of words."""
    kind = chance.choice(["p", "h2", "table", "ul"], p=[0.78, 0.1, 0.05, 0.07])
    if kind == "p":
        count = length(chance, 70, 0.6, least=8)
        return f"<p>{_text(chance, count)}</p>", count
    if kind == "h2":
        return f"<h2>{_text(chance, 3)}</h2>", 3
    rows, each = int(chance.integers(3, 14)), int(chance.integers(2, 6))
    if kind == "ul":
        return "<ul>" + "".join(f"<li>{_text(chance, 6 + each)}</li>" for _ in range(rows)) + "</ul>", rows * (6 + each)
    body = "".join(f"<tr>{_cells(chance, 'td', each)}</tr>" for _ in range(rows))
    return f"<table><tr>{_cells(chance, 'th', each)}</tr>{body}</table>", 2 * each * (rows + 1)


def _cells(chance: np.random.Generator, tag: str, count: int) -> str:
    return "".join(f"<{tag}>{_text(chance, 2)}</{tag}>" for _ in range(count))


def _text(chance: np.random.Generator, count: int) -> str:
    """Return a text with punctuation, and occasionally a character beyond ASCII."""
    drawn = words(chance, count)
    for place in range(11, count, 12):
        drawn[place - 1] += "."
        drawn[place] = drawn[place].capitalize()
    if count > 20 and chance.random() < 0.1:
        drawn[int(chance.integers(count))] = "Åland – «naïve» & 北京"
    return escape(" ".join(drawn).capitalize(), quote=False) + "."
