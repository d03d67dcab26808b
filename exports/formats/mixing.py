"""Mixing generated questions with written ones, so that only their meaning can distinguish them."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.slots.ordering import seeded
from annotation.tasktypes.writing.texts import compared, one_line
from exports.errors import ReleaseError

ALIKE = 0.1  # two lengths differ by at most this share, or by one sign


def mixed(written: Sequence[str], generated: Sequence[str], *, seed: int) -> list[str | None]:
    """Return a mixed order: the text of each generated question, None where the next written one is placed.

    Each written question gets the same number of generated ones of about its length, chosen by the seed. If one length
    has too few, every written question gets fewer, so that lengths reveal nothing.

    Raises
    ------
    ValueError
        A written question has no generated one of about its length.
    """
    known = {compared(text) for text in written}
    pool = defaultdict(list)
    for text in dict.fromkeys(one_line(one, "generated") for one in generated):
        if compared(text) and compared(text) not in known:
            pool[len(text)].append(text)
    for length, texts in pool.items():
        pool[length] = sorted(texts, key=lambda text: seeded(seed, "generated", text))
    rounds: list[list[str]] = []
    while (found := _one_each(written, pool)) is not None:
        rounds.append(found)
    if not rounds:
        raise ReleaseError("generated_too_few")
    chosen = [text for found in rounds for text in found]
    slots: list[str | None] = [*chosen, *[None] * len(written)]
    places = sorted(range(len(slots)), key=lambda place: seeded(seed, "mixed", place))
    return [slots[place] for place in places]


def _one_each(written: Sequence[str], pool: dict[int, list[str]]) -> list[str] | None:
    """Take one generated question from the pool per written one; None, with the pool unchanged, if any has no match."""
    taken: list[str] = []
    for text in sorted(written, key=len, reverse=True):
        room = max(1, int(len(text) * ALIKE))
        near = sorted(
            range(len(text) - room, len(text) + room + 1), key=lambda length: (abs(length - len(text)), length)
        )
        length = next((one for one in near if pool.get(one)), None)
        if length is None:
            for one in taken:
                pool[len(one)].append(one)
            return None
        taken.append(pool[length].pop())
    return taken
