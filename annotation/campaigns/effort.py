"""Estimates of a campaign's effort before it is created: annotations, working hours, and pay."""

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
    """The effort of all splits together; ``pay_cents`` is what people earn, without a marketplace's fees."""

    splits: Sequence[SplitEffort]
    annotations: int
    hours: float
    pay_cents: int


def effort_of(splits: Sequence[tuple[str, int, int]], *, items: int, seconds: int, pay_an_hour: Decimal) -> Effort:
    """Return the effort for ``items``, given splits as (name, annotations per item, share) and hourly pay in dollars.

    Items are assigned to splits at random, so the sizes of splits are expected values, rounded. Second rounds, gold,
    pilots and audits aren't included.
    """
    whole = sum(share for _name, _n, share in splits) or 1
    parts = [SplitEffort(name, (size := round(items * share / whole)), size * n) for name, n, share in splits]
    annotations = sum(part.annotations for part in parts)
    seconds_in_all = annotations * seconds
    cents = (Decimal(seconds_in_all) * pay_an_hour * 100 / 3600).quantize(Decimal(1), ROUND_HALF_UP)
    return Effort(parts, annotations, seconds_in_all / 3600, int(cents))
