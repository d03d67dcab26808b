"""The marketplace's fees, by the rules that Mechanical Turk published.

20% of the reward, 20% more for HITs with ten or more assignments, 20% of a bonus; at least one
cent per assignment or bonus; half a cent is rounded up. The service doesn't specify whether parts are
rounded separately; here the sum is rounded.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
MANY_ASSIGNMENTS = 10


@dataclass(frozen=True)
class FeeRules:
    """Fee rates (0.20 is 20%) and the minimum fee in dollars."""

    base: Decimal
    many_assignments: Decimal
    minimum: Decimal

    def on_reward(self, reward: Decimal, max_assignments: int) -> Decimal:
        """Return the fee of one assignment in dollars."""
        share = self.base + (self.many_assignments if max_assignments >= MANY_ASSIGNMENTS else 0)
        return self._fee(reward, share)

    def on_bonus(self, amount: Decimal) -> Decimal:
        """Return the fee of one bonus in dollars."""
        return self._fee(amount, self.base)

    def _fee(self, amount: Decimal, share: Decimal) -> Decimal:
        return max((amount * share).quantize(CENT, ROUND_HALF_UP), self.minimum)


PUBLISHED = FeeRules(base=Decimal("0.20"), many_assignments=Decimal("0.20"), minimum=CENT)
NONE = FeeRules(base=Decimal(0), many_assignments=Decimal(0), minimum=Decimal("0.00"))
RULES = {"published": PUBLISHED, "none": NONE}
