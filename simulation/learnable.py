"""Pages and questions that a reader can learn to answer: invented facts among filler, as in Natural Questions.

They are used to show that training works. Names and values are invented, so a model can't know them before, and a third
of the questions have no answer on their page.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

# What a page may say of its place: a name, how the page says it, how questions ask for it.
RELATIONS = (
    ("mayor", "the mayor is {value}", "who is the mayor of {place}"),
    ("founder", "it was founded by {value}", "who founded {place}"),
    ("river", "the river that crosses it is the {value}", "which river crosses {place}"),
    ("dish", "its best known dish is called {value}", "what is the best known dish of {place}"),
    ("architect", "its town hall was designed by {value}", "who designed the town hall of {place}"),
    ("twin", "its twin town is {value}", "what is the twin town of {place}"),
    ("peak", "the highest peak nearby is {value}", "what is the highest peak near {place}"),
    ("saint", "its patron saint is {value}", "who is the patron saint of {place}"),
)
REASON = (
    "the old bridge was closed because its pillars were found to be {value}",
    "why was the old bridge of {place} closed",
)
OPEN = ("the castle is {value} to visitors", "is the castle of {place} open to visitors")
NULLS = 0.35  # of the questions ask for what the page does not say
NESTED = 0.15  # share of the answers in tables and lists that name the row or entry: 5% of all answers, as in the published data
_SYLLABLES = "vo wi za no ra ke lu mi ta so pe du fa gri bel tor han ska min dro".split()
_FILLER = (
    "the area around it is known for long winters and quiet roads where people walk with their dogs in the evening while "
    "farmers bring wood to the market and children play near the mill until it grows dark over the fields and small "
    "shops close their doors"
).split()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a page with its right answer.

    ``said`` is the text of the answering box, empty if the page has no answer; ``short`` is the span in it, empty if
    there is only a long answer; ``yes_no`` is YES, NO or NONE; ``nested`` asks for the smallest answering box, not the
    largest.
    """

    question: str
    said: str = ""
    short: str = ""
    yes_no: str = "NONE"
    nested: bool = False


@dataclass(frozen=True, slots=True)
class LearnablePage:
    """A page with its question."""

    title: str
    html: str
    asked: Asked


def learnable_pages(count: int, seed: int) -> Iterator[LearnablePage]:
    """Yield ``count`` pages; the same seed gives the same pages."""
    chance = random.Random(seed)  # noqa: S311  a simulation
    for _ in range(count):
        yield _page(chance)


def _page(chance: random.Random) -> LearnablePage:
    place = _name(chance, words=1)
    known = chance.sample(RELATIONS, chance.randint(3, 6))
    facts: list[tuple[Asked, str]] = []
    for _key, says, asks in known:
        value = _name(chance, words=chance.randint(1, 2))
        said = f"{_filled(chance)} , {says.format(value=value)} . {_filled(chance)}"
        facts.append((Asked(asks.format(place=place), said, value), said))
    reason = f"{REASON[0].format(value=' '.join(chance.sample(_FILLER, 3)))} . {_filled(chance)}"
    facts.append((Asked(REASON[1].format(place=place), reason), reason))
    is_open = chance.random() < 0.5
    castle = f"{OPEN[0].format(value='open' if is_open else 'not open')} . {_filled(chance)}"
    facts.append((Asked(OPEN[1].format(place=place), castle, yes_no="YES" if is_open else "NO"), castle))
    missing = [asks for relation in RELATIONS if relation not in known for asks in [relation[2]]]
    asked = Asked(chance.choice(missing).format(place=place)) if chance.random() < NULLS else chance.choice(facts)[0]
    asked = replace(asked, nested=chance.random() < NESTED)
    texts = [said for _, said in facts] + [_filled(chance, 24) for _ in range(chance.randint(1, 3))]
    chance.shuffle(texts)
    body = "\n".join(_box(chance, text) for text in texts)
    return LearnablePage(
        place, f"<html><head><title>{place}</title></head><body><h1>{place}</h1>\n{body}\n</body></html>", asked
    )


def _box(chance: random.Random, text: str) -> str:
    """Return a text as a paragraph, or as a cell of a table or an item of a list."""
    kind, text = chance.random(), escape(text)
    if kind < 0.7:
        return f"<p>{text}</p>"
    other = escape(_filled(chance, 6))
    if kind < 0.85:
        return f"<table><tr><td>{other}</td></tr><tr><td>{text}</td></tr></table>"
    return f"<ul><li>{other}</li><li>{text}</li></ul>"


def _name(chance: random.Random, *, words: int) -> str:
    return " ".join("".join(chance.sample(_SYLLABLES, chance.randint(2, 3))).capitalize() for _ in range(words))


def _filled(chance: random.Random, words: int = 12) -> str:
    return " ".join(chance.choices(_FILLER, k=words))
