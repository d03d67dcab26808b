"""What a campaign will take, before it is made: annotations, hours of people, and their pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal


@dataclass(frozen=True, slots=True)
class SplitEffort:
    """How many items a split will have, and how many annotations they take."""

    name: str
    items: int
    annotations: int


@dataclass(frozen=True, slots=True)
class Effort:
    """What all splits take together; ``pay_cents`` is what people earn, without fees of a marketplace."""

    splits: Sequence[SplitEffort]
    annotations: int
    hours: float
    pay_cents: int


def effort_of(splits: Sequence[tuple[str, int, int]], *, items: int, seconds: int, pay_an_hour: Decimal) -> Effort:
    """Return what ``items`` take, for splits as (name, annotations per item, share) and pay in dollars an hour.

    Items are split by chance, so that the sizes of splits are what is expected, rounded. Second rounds, gold, pilots and
    audits come on top.
    """
    whole = sum(share for _name, _n, share in splits) or 1
    parts = [SplitEffort(name, (size := round(items * share / whole)), size * n) for name, n, share in splits]
    annotations = sum(part.annotations for part in parts)
    seconds_in_all = annotations * seconds
    cents = (Decimal(seconds_in_all) * pay_an_hour * 100 / 3600).quantize(Decimal(1), ROUND_HALF_UP)
    return Effort(parts, annotations, seconds_in_all / 3600, int(cents))
