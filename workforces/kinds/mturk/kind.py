"""Arrival in a marketplace's frame: the content of the address, its proof, and where to submit the work.

The address is a claim of the person who opens it: a worker's id counts only if the marketplace signed it or if
the marketplace lists the finished assignment with our code. (MTurk Requester UI guide, "ExternalQuestion".)
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from jobs.models import Job
from workforces.kinds.base import (
    Arrival,
    ArrivalRefused,
    Farewell,
    Kind,
    Outcome,
    Reconciliation,
    Terms,
    Unsigned,
    signature_verify,
)
from workforces.kinds.mturk.postings import posting_find
from workforces.kinds.mturk.terms import CODE_FIELD, MTurkTerms, source_at
from workforces.models import Errand, ErrandKind, Posting, Ticket, Workforce
from workforces.services.exclusions import exclusion_begin, exclusion_end
from workforces.services.outbox import errand_add
from workforces.services.pay_errands import refusal_override, refuse
from workforces.services.workforces import BOOKS

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_WORKER = re.compile(r"A[A-Z0-9]{1,63}")
_ENTITY = re.compile(r"[A-Z0-9]{1,64}")


class MTurk(Kind):
    """People who accept a HIT."""

    key: ClassVar[str] = "mturk"
    title: ClassVar[Any] = _("Marketplace (MTurk protocol)")
    door: ClassVar[str] = "hit"
    confirms: ClassVar[bool] = True
    terms_class: ClassVar[type[Terms]] = MTurkTerms
    form: ClassVar[str] = "workforces.kinds.mturk.forms.MTurkForm"
    begin: ClassVar[Any] = _("Post")
    page: ClassVar[str] = "workforces/kinds/mturk.html"
    tasks: ClassVar[str] = "workforces.kinds.mturk.tasks"
    writes: ClassVar[bool] = True
    has_books: ClassVar[bool] = True

    def __init__(self, submit_origins: Sequence[str] = (), frame_secret: str = "", now: float = 0.0) -> None:
        self.submit_origins = submit_origins
        self.frame_secret = frame_secret
        self.now = now

    def configured(self, _secret: str, now: float) -> "MTurk":
        """Return this kind with the marketplace of this installation."""
        return MTurk(settings.MTURK_SUBMIT_URLS, settings.MTURK_FRAME_SECRET, now)

    def faults(self) -> Iterator[tuple[str, str]]:
        """Ask the marketplace for the balance, if one is set."""
        from workforces.kinds.mturk.connection import faults  # noqa: PLC0415  boto3, where it is asked for

        return faults()

    def source(self, campaign_id: UUID) -> str:
        """Return the marketplace, because its workers have the same ids in every campaign."""
        return source_at(settings.MTURK_ENDPOINT_URL)

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Return the worker and the accepted assignment, or None for a preview."""
        assignment = query.get("assignmentId", "")
        if assignment in ("", PREVIEW):
            return None
        hit, worker = query.get("hitId", ""), worker_of(query.get("workerId", ""))
        if not _ENTITY.fullmatch(assignment):
            raise ArrivalRefused("arrival_assignment")
        if not _ENTITY.fullmatch(hit):
            raise ArrivalRefused("arrival_hit")
        submit_url = self._submit_url(query.get("turkSubmitTo", ""))
        is_signed = bool(self.frame_secret) and signature_verify(
            self.frame_secret, query, hit, assignment, worker, now=self.now
        )
        # A marketplace that signs signs every address.
        if not is_signed and (self.frame_secret or terms.unsigned == Unsigned.REFUSE):
            raise ArrivalRefused("arrival_unsigned_market")
        return Arrival(worker, assignment, hit, submit_url, is_signed)

    def _submit_url(self, wanted: str) -> str:
        """Return the address for submitting: the one in the URL if it is one of ours, else our own."""
        if not self.submit_origins:
            raise ArrivalRefused("arrival_no_market")
        base = wanted.strip() or self.submit_origins[0]
        parts = urlsplit(base)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in {_origin(allowed) for allowed in self.submit_origins} or parts.query or parts.fragment:
            raise ArrivalRefused("arrival_other_market")
        return f"{base.rstrip('/')}/mturk/externalSubmit"

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return the form that submits the assignment; the browser sends it."""
        return Farewell(arrival.submit_url, {"assignmentId": arrival.remote_id, CODE_FIELD: code})

    def admit(self, *, workforce: Workforce, arrival: Arrival, now: datetime) -> Posting:
        """Return the HIT that an arrival comes from."""
        return posting_find(workforce, arrival, now)

    def shown(self, row: Workforce) -> dict[str, Any]:
        """Return the last comparison of the ledgers."""
        compared = Job.objects.filter(scope_id=row.campaign_id, kind=BOOKS).order_by("-created_at").first()
        return {"compared": compared}

    def reconcile(self, *, workforce: Workforce) -> Reconciliation:
        """Read every posting at the marketplace and compare it with the ledger."""
        from workforces.kinds.mturk.reconcile import reconcile  # noqa: PLC0415  boto3, where it is asked for

        return reconcile(workforce=workforce)

    def refuse_pay(
        self, *, ticket_id: int, reason: str, actor_id: UUID, due_at: datetime, now: datetime, mark: str = ""
    ) -> bool:
        """Add an errand that rejects an assignment."""
        return refuse(ticket_id, reason, actor_id, due_at, mark)

    def refuse_doubtful(self, *, ticket: Ticket, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
        """Add an errand that rejects an assignment that can't be matched."""
        return refuse(ticket.pk, reason, actor_id, due_at)

    def pay_refused(self, *, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> Errand:
        """Override a rejection, or pay a bonus if the marketplace no longer allows that."""
        return refusal_override(ticket=ticket, reason=reason, actor_id=actor_id, now=now)

    def notify(self, *, workforce: Workforce, surrogate_id: UUID, text: str, token: str, now: datetime) -> Errand:
        """Send a message to a worker."""
        return errand_add(
            workforce=workforce,
            kind=ErrandKind.NOTIFY,
            surrogate_id=surrogate_id,
            text=text[:900],
            due_at=now,
            token=f"notify-{workforce.pk}-{token}",
        )

    def exclude(self, *, workforce: Workforce, surrogate_id: UUID, why: str, now: datetime) -> None:
        """Give a worker the qualification that excludes them from postings."""
        exclusion_begin(workforce=workforce, surrogate_id=surrogate_id, why=why, now=now)

    def let_back(self, *, workforce: Workforce, surrogate_id: UUID, now: datetime) -> None:
        """Remove that qualification."""
        exclusion_end(workforce=workforce, surrogate_id=surrogate_id, now=now)


def worker_of(text: str) -> str:
    """Return the worker's id, which one or two in a hundred addresses contain twice."""
    names = {name.strip() for name in text.split(",") if name.strip()}
    if len(names) != 1 or not _WORKER.fullmatch(name := names.pop()):
        raise ArrivalRefused("arrival_worker")
    return name


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
