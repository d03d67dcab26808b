"""Arriving in a marketplace's frame: what the address says, what it proves, and where the work is handed in.

The address is a claim of whoever opens it: a worker's id counts only when the marketplace signed it or when
it lists the finished assignment with our code. (MTurk Requester UI guide, "ExternalQuestion".)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Outcome, Terms, Unsigned, signature_verify

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
CODE_FIELD = "quorateCode"
_WORKER = re.compile(r"A[A-Z0-9]{1,63}")
_ENTITY = re.compile(r"[A-Z0-9]{1,64}")
# Qualifications of the ANTIQUE paper: over 98 % approved, at least 5,000 assignments.
PRESETS: dict[str, list[dict[str, object]]] = {
    "paper": [
        {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan", "IntegerValues": [98]},
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [5000]},
    ],
    "own": [],
}


@dataclass(frozen=True, slots=True)
class MTurkTerms(Terms):
    """What a posting says, and when its work is paid.

    Attributes
    ----------
    places
        Assignments of a posting. 0: as many as an item wants annotations, so that a crowd no larger than
        that can do all of them (nobody can take two assignments of one HIT).
    approve_after_seconds
        How long submitted work waits before it is approved by itself.
    auto_approval_seconds
        When the marketplace approves by itself; nothing waits longer than an hour before that.
    stale_seconds
        A posting that nobody took for so long is replaced: who worked on it cannot take it again.
    undo_seconds
        How long a decision can be taken back before it is sent.
    """

    title: str = "How well does an answer answer a question?"
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
            raise ValueError("places must lie between 0 (automatic) and 9: the tenth assignment costs an extra fee")
        if self.qualification not in PRESETS:
            raise ValueError(f"qualification must be one of {', '.join(PRESETS)}")
        if not 30 <= self.lifetime_seconds <= 31_536_000:
            raise ValueError("lifetime_seconds must lie between 30 and 31,536,000")
        if not self.approve_after_seconds <= self.auto_approval_seconds <= 2_592_000:
            raise ValueError("auto_approval_seconds must lie between approve_after_seconds and 2,592,000")
        if self.reward_cents < 1:
            raise ValueError("reward_cents must be at least 1")
        if self.unsigned == Unsigned.COUNT:
            raise ValueError("unsigned cannot be count here: the marketplace lists what was handed in")


class MTurk:
    """People who take a HIT."""

    key: ClassVar[str] = "mturk"
    door: ClassVar[str] = "hit"
    confirms: ClassVar[bool] = True
    terms_class: ClassVar[type[Terms]] = MTurkTerms

    def __init__(self, submit_origins: Sequence[str] = (), frame_secret: str = "", now: float = 0.0) -> None:
        self.submit_origins = submit_origins
        self.frame_secret = frame_secret
        self.now = now

    def arrive(self, query: Mapping[str, str], terms: Terms) -> Arrival | None:
        """Return who accepted which assignment, or None for a preview."""
        assignment = query.get("assignmentId", "")
        if assignment in ("", PREVIEW):
            return None
        hit, worker = query.get("hitId", ""), worker_of(query.get("workerId", ""))
        if not _ENTITY.fullmatch(assignment):
            raise ArrivalRefused("assignmentId is not an id of an assignment")
        if not _ENTITY.fullmatch(hit):
            raise ArrivalRefused("hitId is missing or not an id of a HIT")
        submit_url = self._submit_url(query.get("turkSubmitTo", ""))
        is_signed = bool(self.frame_secret) and signature_verify(
            self.frame_secret, query, hit, assignment, worker, now=self.now
        )
        # A marketplace that signs signs every address.
        if not is_signed and (self.frame_secret or terms.unsigned == Unsigned.REFUSE):
            raise ArrivalRefused("the marketplace's signature is missing from this address")
        return Arrival(worker, assignment, hit, submit_url, is_signed)

    def _submit_url(self, wanted: str) -> str:
        """Return where to hand in: the place the address names if it is one of ours, else our own."""
        if not self.submit_origins:
            raise ArrivalRefused("no marketplace is configured")
        base = wanted.strip() or self.submit_origins[0]
        parts = urlsplit(base)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in {_origin(allowed) for allowed in self.submit_origins} or parts.query or parts.fragment:
            raise ArrivalRefused("turkSubmitTo is not a marketplace that this installation works with")
        return f"{base.rstrip('/')}/mturk/externalSubmit"

    def farewell(self, arrival: Arrival, terms: Terms, outcome: Outcome, code: str) -> Farewell:
        """Return the form that hands the assignment in; the browser sends it."""
        return Farewell(arrival.submit_url, {"assignmentId": arrival.remote_id, CODE_FIELD: code})


def worker_of(text: str) -> str:
    """Return the worker's id; one or two in a hundred addresses hold it twice."""
    names = {name.strip() for name in text.split(",") if name.strip()}
    if len(names) != 1 or not _WORKER.fullmatch(name := names.pop()):
        raise ArrivalRefused("workerId is missing or not the id of one worker")
    return name


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
