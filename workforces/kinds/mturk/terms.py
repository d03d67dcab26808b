"""The content of a posting, and the time of its payment."""

from dataclasses import dataclass

from workforces.kinds.base import Terms, TermsError, Unsigned

CODE_FIELD = "quorateCode"  # of the form that hands an assignment in
# Qualifications of the ANTIQUE paper: over 98% approved, at least 5,000 assignments.
PRESETS: dict[str, list[dict[str, object]]] = {
    "paper": [
        {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan", "IntegerValues": [98]},
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [5000]},
    ],
    "own": [],
}


@dataclass(frozen=True, slots=True)
class MTurkTerms(Terms):
    """The content of a posting, and the time of its payment.

    Attributes
    ----------
    places
        Assignments of a posting. 0: the number of annotations that an item wants, so that a crowd of that size
        can do all of them (nobody can take two assignments of one HIT).
    approve_after_seconds
        How long submitted work waits before it is approved automatically.
    auto_approval_seconds
        When the marketplace approves automatically; all decisions are made at least an hour before.
    stale_seconds
        A posting that nobody took for this time is replaced, because its former workers can't take it again.
    undo_seconds
        How long a decision can be undone before it is sent.
    """

    title: str = "Judge how well an answer fits a question"
    description: str = "Read a question and an answer, and choose one of four labels."
    keywords: str = "question, answer, relevance, labels"
    places: int = 0
    lifetime_seconds: int = 7 * 86_400
    auto_approval_seconds: int = 7 * 86_400
    approve_after_seconds: int = 86_400
    stale_seconds: int = 6 * 3_600
    undo_seconds: int = 600
    qualification: str = "paper"
    frame_height: int = 0
    has_fees: bool = True
    reward_cents: int = 5

    def __post_init__(self) -> None:
        Terms.__post_init__(self)
        if not 0 <= self.places <= 9:
            raise TermsError("terms_places")
        if self.qualification not in PRESETS:
            raise TermsError("terms_qualification", known=", ".join(PRESETS))
        if not 30 <= self.lifetime_seconds <= 31_536_000:
            raise TermsError("terms_lifetime")
        if not self.approve_after_seconds <= self.auto_approval_seconds <= 2_592_000:
            raise TermsError("terms_approval")
        if self.reward_cents < 1:
            raise TermsError("terms_reward")
        if self.unsigned == Unsigned.COUNT:
            raise TermsError("terms_count")


def source_at(endpoint_url: str) -> str:
    """Return the namespace of a marketplace's worker ids."""
    return f"mturk {endpoint_url}"[:100]
