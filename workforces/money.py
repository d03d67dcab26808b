"""The cost of work: rewards, the marketplace's fee, and the likely total of a campaign.

All amounts are whole US cents.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

FEE_SHARE, NO_FEES = Decimal("0.20"), Decimal(0)


def fee_cents(cents: int, *, share: Decimal = FEE_SHARE) -> int:
    """Return the fee on an amount, rounded half up, at least a cent; a fifth on MTurk, under ten assignments."""
    if not share or cents == 0:
        return 0
    return max(1, int((cents * share).quantize(Decimal(1), rounding=ROUND_HALF_UP)))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The likely cost of a campaign, by part.

    Attributes
    ----------
    tickets
        Number of paid tickets: the votes of both rounds and the gold checks, divided by the items per ticket.
    cents
        Rewards, fees and training bonuses together.
    expert_cases, inspection_hours
        The work that a team has to do itself.
    """

    first_round: int
    second_round: int
    gold: int
    tickets: int
    reward_cents: int
    fee_cents: int
    training_cents: int
    cents: int
    expert_cases: int
    inspection_hours: float


def estimate(
    *,
    items: int,
    votes: int,
    reward_cents: int,
    fee_share: Decimal,
    items_per_ticket: int = 1,
    people: int = 0,
    training_bonus_cents: int = 0,
    gold_rate: float = 0.03,
    gold_first: int = 5,
    no_agreement: float = 0.13,
    no_agreement_again: float = 0.19,
    inspection_rate: float = 0.2,
    inspection_seconds: float = 20.0,
) -> Estimate:
    """Return the estimate; the shares without agreement are those of ANTIQUE (about 13% and 19%)."""
    first = items * votes
    second = round(items * no_agreement) * votes
    gold = round((first + second) * gold_rate) + people * gold_first
    tickets = -(-(first + second + gold) // items_per_ticket)
    reward = tickets * reward_cents
    fees = tickets * fee_cents(reward_cents, share=fee_share)
    bonus = people * (training_bonus_cents + fee_cents(training_bonus_cents, share=fee_share))
    read = (first + second) * inspection_rate + round(items * no_agreement) * votes
    return Estimate(
        first_round=first,
        second_round=second,
        gold=gold,
        tickets=tickets,
        reward_cents=reward,
        fee_cents=fees,
        training_cents=bonus,
        cents=reward + fees + bonus,
        expert_cases=round(items * no_agreement * no_agreement_again),
        inspection_hours=round(read * inspection_seconds / 3600, 1),
    )
