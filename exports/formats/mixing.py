"""Generated questions among written ones, so that nothing but their sense tells them apart."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.slots.ordering import seeded
from annotation.tasktypes.writing.texts import compared, one_line
from exports.errors import ReleaseError

ALIKE = 0.1  # two lengths differ by at most this share, or by one sign


def mixed(written: Sequence[str], generated: Sequence[str], *, seed: int) -> list[str | None]:
    """Return a mixed order: a text for each generated question, None where the next written one stands.

    For each written question as many generated ones of its length are taken as for every other, by the seed; where there are
    not enough of one length, fewer are taken of all, so that lengths tell nothing.

    Raises
    ------
    ValueError
        There is not one of about its length for each written question.
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
    """Take a generated question for each written one out of the pool; None, and nothing taken, where one has none."""
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
