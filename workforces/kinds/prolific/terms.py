"""The terms of a study on Prolific."""

import hashlib
import hmac
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt

from workforces.kinds.base import Outcome, Terms, TermsError, Unsigned

LEAST_HOURLY_CENTS = 800  # of the estimate, in dollars (Prolific, payment principles)
MOST_DAY_SECONDS = 24 * 3600 - 60
LONGEST_REVIEW_SECONDS = 21 * 86_400  # then Prolific approves by itself


@dataclass(frozen=True, slots=True)
class ProlificTerms(Terms):
    """The terms of a study.

    Attributes
    ----------
    estimated_minutes
        The time that participants are told; the reward is judged by it.
    visits_each
        How often one person may take part; 0 doesn't limit it.
    fee_percent
        Prolific's fee on rewards and bonuses, without tax: 42.8 for companies, 33.3 for universities.
    is_secure
        Whether Prolific signs its links (a setting of some workspaces); then unsigned ones are refused.
    has_phones
        Whether people may take part on phones.
    confirm_seconds
        How long work that is finished here waits for its submission there.
    """

    title: str = "Judge how well an answer fits a question"
    description: str = "Read questions and answers, and choose one of four labels for each."
    estimated_minutes: int = 10
    visits_each: int = 1
    fee_percent: float = 33.3
    is_secure: bool = False
    has_phones: bool = False
    approve_after_seconds: int = 3 * 86_400
    undo_seconds: int = 600
    reward_cents: int = 150
    items_per_ticket: int = 10
    assignment_seconds: int = 3600
    confirm_seconds: int = 2 * 86_400
    has_fees: bool = True

    @property
    def fee_share(self) -> Decimal:
        """Prolific's fee, as a share of what is paid."""
        return Decimal(str(self.fee_percent)) / 100

    @property
    def most_minutes(self) -> int:
        """The time that participants have, in minutes."""
        return self.assignment_seconds // 60

    def __post_init__(self) -> None:
        Terms.__post_init__(self)
        if not 1 <= self.estimated_minutes <= 600:
            raise TermsError("terms_estimate")
        least = 2 + 2 * self.estimated_minutes + 2 * sqrt(self.estimated_minutes)
        if not least <= self.most_minutes or self.assignment_seconds > MOST_DAY_SECONDS:
            raise TermsError("terms_longest", least=-int(-least // 1))
        if self.reward_cents * 60 < LEAST_HOURLY_CENTS * self.estimated_minutes:
            raise TermsError("terms_prolific_pay", least=-(-LEAST_HOURLY_CENTS * self.estimated_minutes // 60))
        if not 0 <= self.approve_after_seconds < LONGEST_REVIEW_SECONDS:
            raise TermsError("terms_prolific_approval")
        if not 0 <= self.fee_percent <= 100 or not 0 <= self.visits_each <= 1000:
            raise TermsError("terms_amounts")
        if not self.title.strip() or not self.description.strip():
            raise TermsError("terms_texts")
        if self.unsigned == Unsigned.COUNT:
            raise TermsError("terms_count")


def codes_of(secret: str) -> dict[Outcome, str]:
    """Return the completion codes of a workforce, which follow from its secret, by outcome."""
    return {
        outcome: hmac.new(secret.encode(), f"completion {outcome}".encode(), hashlib.sha256).hexdigest()[:10].upper()
        for outcome in Outcome
    }
