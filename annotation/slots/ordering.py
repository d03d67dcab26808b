"""Seeded random choices: the split of an item, the positions of its slots in the queue, and its ids.

Everything here is a function of the campaign's seed and the item's own id, so that the same import
gives the same dataset wherever and however often it runs.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Named = TypeVar("Named")

_BATCH_SHIFT, _ROUND_SHIFT, _WAVE_SHIFT = 46, 40, 32
MOST_WAVES = 255  # of a round; later ones lie with the last
# bert_joint joins predictions by the low 32 bits of an id plus a window number; ids of one set must
# keep this distance there, and stay off the edges of the signed range.
LOW_BITS_SPACING = 16_384
_BUCKETS = 2**32 // LOW_BITS_SPACING
_BUCKET_STEP = 100_003  # odd, so that it visits every bucket before it comes back


def seeded(seed: int, *parts: object) -> int:
    """Return a 64-bit number that depends on the seed and the parts, and on nothing else."""
    text = "\x1f".join([str(seed), *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def drawn_split(seed: int, key: str, splits: Sequence[tuple[Named, int]]) -> Named:
    """Return the split of a group of items, drawn at random in proportion to the splits' weights."""
    point = seeded(seed, "split", key) % sum(weight for _, weight in splits)
    for split, weight in splits:
        if point < weight:
            return split
        point -= weight
    raise AssertionError("the point lies below the sum of the weights")


def order_key(seed: int, *, batch: int, round_: int, wave: int, item: str, index: int) -> int:
    """Return a slot's position in the queue: batches, rounds and waves in order, random within them."""
    place = seeded(seed, "slot", item, round_, index) >> 32
    return (batch << _BATCH_SHIFT) | (round_ << _ROUND_SHIFT) | (min(wave, MOST_WAVES) << _WAVE_SHIFT) | place


def follow_up_key(annotation_id: int) -> int:
    """Return the queue position of an annotation's follow-ups: before all batches, the newest last.

    The position isn't random: a person who goes back in the queue to new items passes no older ones.
    """
    return annotation_id % (1 << _BATCH_SHIFT)


def order_range(*, batch: int, round_: int) -> tuple[int, int]:
    """Return the first queue position of a batch's round, and the first one after that round."""
    first = (batch << _BATCH_SHIFT) | (round_ << _ROUND_SHIFT)
    return first, first + (1 << _ROUND_SHIFT)


def new_example_id(seed: int, item: str, ordinal: int) -> str:
    """Return a signed 64-bit id as decimal text, its low 32 bits apart from those of nearby ordinals."""
    low = (ordinal * _BUCKET_STEP % _BUCKETS) * LOW_BITS_SPACING + LOW_BITS_SPACING // 2
    number = ((seeded(seed, "id", item) >> 32) << 32) | low
    return str(number - 2**64 if number >= 2**63 else number)


def new_annotation_id(seed: int, *parts: object) -> str:
    """Return a 63-bit id as decimal text: readers that keep ids as signed or floating numbers lose nothing."""
    return str(seeded(seed, "annotation", *parts) >> 1)
