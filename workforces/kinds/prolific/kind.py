"""Participants of Prolific, by its API: studies, signed visits, submissions, bonuses."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlencode
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
    TermsError,
    Unsigned,
)
from workforces.kinds.prolific.errand_calls import LEAST_REASON
from workforces.kinds.prolific.study import posting_find, study_of, study_publish
from workforces.kinds.prolific.terms import ProlificTerms, codes_of
from workforces.kinds.prolific.visits import PERSON, STUDY, TOKEN, VISIT, visit_check
from workforces.models import Errand, ErrandKind, Posting, Ticket, Workforce
from workforces.services.exclusions import exclusion_begin, exclusion_end
from workforces.services.outbox import errand_add
from workforces.services.pay import PayError
from workforces.services.pay_errands import refusal_make_good, refuse
from workforces.services.terms import posting_terms
from workforces.services.workforces import BOOKS

# How a study stands on Prolific, in words.
STATUSES = {
    "UNPUBLISHED": _("Draft"),
    "SCHEDULED": _("Scheduled"),
    "PUBLISHING": _("Being published"),
    "ACTIVE": _("Active"),
    "PAUSED": _("Paused"),
    "AWAITING REVIEW": _("All places taken"),
    "COMPLETED": _("Completed"),
}
# What a study keeps from its creation.
FROZEN = (
    "title",
    "description",
    "reward_cents",
    "items_per_ticket",
    "estimated_minutes",
    "assignment_seconds",
    "visits_each",
    "is_secure",
    "has_phones",
)
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


class ProlificKind(Kind):
    """Participants of Prolific."""

    key: ClassVar[str] = "prolific"
    title: ClassVar[Any] = _("Prolific")
    door: ClassVar[str] = "join"
    confirms: ClassVar[bool] = True
    leaves_by_code: ClassVar[bool] = True
    refills: ClassVar[bool] = True
    terms_class: ClassVar[type[Terms]] = ProlificTerms
    form: ClassVar[str] = "workforces.kinds.prolific.forms.ProlificForm"
    begin: ClassVar[Any] = _("Create the study")
    page: ClassVar[str] = "workforces/kinds/prolific.html"
    tasks: ClassVar[str] = "workforces.kinds.prolific.tasks"
    urls: ClassVar[str] = "workforces.kinds.prolific.urls"
    writes: ClassVar[bool] = True
    has_books: ClassVar[bool] = True
    has_hooks: ClassVar[bool] = True

    def __init__(self, secret: str = "") -> None:
        self.secret = secret

    def configured(self, secret: str, _now: float) -> "ProlificKind":
        """Return this kind with the secret of a workforce, from which its codes follow."""
        return ProlificKind(secret)

    def source(self, campaign_id: UUID) -> str:
        """Return Prolific, because its participants have the same ids in every campaign."""
        return f"prolific {settings.PROLIFIC_API_URL}"[:100]

    def faults(self) -> Iterator[tuple[str, str]]:
        """Ask Prolific for the balance, if an account is set."""
        from workforces.kinds.prolific.connection import faults  # noqa: PLC0415  requests, where it is asked for

        return faults()

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Return the participant and their submission; an address without one only shows the instructions."""
        assert isinstance(terms, ProlificTerms)
        worker, study, visit = (query.get(name, "").strip() for name in (PERSON, STUDY, VISIT))
        if not worker or worker.startswith("{{"):  # the placeholder, when a researcher tries the link out
            return None
        for name, value in ((PERSON, worker), (STUDY, study), (VISIT, visit)):
            if not _ID.fullmatch(value):
                raise ArrivalRefused("arrival_parameter", parameter=name)
        is_signed = bool(query.get(TOKEN))
        if is_signed:
            visit_check(query)
        elif terms.is_secure or terms.unsigned == Unsigned.REFUSE:
            raise ArrivalRefused("arrival_unsigned_panel")
        return Arrival(worker=worker, remote_id=visit, posting=study, is_signed=is_signed)

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return Prolific's address with the code of this outcome."""
        its_code = codes_of(self.secret)[outcome]
        url = f"{settings.PROLIFIC_APP_URL}/submissions/complete?{urlencode({'cc': its_code})}"
        return Farewell(url=url, code=its_code)

    def admit(self, *, workforce: Workforce, arrival: Arrival, now: datetime) -> Posting:
        """Return the study that an arrival comes from."""
        return posting_find(workforce, arrival, now)

    def shown(self, row: Workforce) -> dict[str, Any]:
        """Return the study, how it stands on Prolific, and the last comparison of the ledgers."""
        posting = study_of(row)
        return {
            "is_configured": bool(settings.PROLIFIC_TOKEN),
            "study": (study := row.remote.get("study")),
            "status": STATUSES.get(study["status"], study["status"]) if study else "",
            "is_published": row.remote.get("is_published"),
            "url": f"{settings.PROLIFIC_APP_URL}/researcher/studies/{posting.hit_id}"
            if posting and posting.hit_id
            else "",
            "compared": Job.objects.filter(scope_id=row.campaign_id, kind=BOOKS).order_by("-created_at").first(),
        }

    def reconcile(self, *, workforce: Workforce) -> Reconciliation:
        """Read every submission on Prolific and compare it with the ledger."""
        from workforces.kinds.prolific.reconcile import reconcile  # noqa: PLC0415  requests, where it is asked for

        return reconcile(workforce=workforce)

    def check_change(self, *, workforce: Workforce, terms: Mapping[str, Any]) -> None:
        """Refuse to change what a study keeps from its creation."""
        posting = study_of(workforce)
        if posting is None:
            return
        before, after = posting_terms(posting), ProlificTerms(**terms)
        changed = [name for name in FROZEN if getattr(before, name) != getattr(after, name)]
        if changed:
            raise TermsError("terms_of_study", names=", ".join(changed))

    def publish(self, *, workforce: Workforce, actor_id: UUID, now: datetime) -> None:
        """Publish the study."""
        study_publish(workforce=workforce, actor_id=actor_id, now=now)

    def hooks(self, *, subscribe: bool) -> str:
        """Create the secret of Prolific's notifications, or subscribe to them."""
        from workforces.kinds.prolific.connection import hooks  # noqa: PLC0415  requests, where it is asked for

        return hooks(subscribe=subscribe)

    def refuse_pay(
        self, *, ticket_id: int, reason: str, actor_id: UUID, due_at: datetime, now: datetime, mark: str = ""
    ) -> bool:
        """Add an errand that rejects a submission."""
        _check_reason(reason)
        return refuse(ticket_id, reason, actor_id, due_at, mark)

    def refuse_doubtful(self, *, ticket: Ticket, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
        """Add an errand that rejects a submission that can't be matched."""
        _check_reason(reason)
        return refuse(ticket.pk, reason, actor_id, due_at)

    def pay_refused(self, *, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> Errand:
        """Pay a rejected submission by a bonus: rejections are final."""
        return refusal_make_good(ticket=ticket, reason=reason, actor_id=actor_id, now=now)

    def notify(self, *, workforce: Workforce, surrogate_id: UUID, text: str, token: str, now: datetime) -> Errand:
        """Send a message to a participant."""
        return errand_add(
            workforce=workforce,
            kind=ErrandKind.NOTIFY,
            surrogate_id=surrogate_id,
            text=text[:900],
            due_at=now,
            token=f"notify-{workforce.pk}-{token}",
        )

    def exclude(self, *, workforce: Workforce, surrogate_id: UUID, why: str, now: datetime) -> None:
        """Add a participant to the group that the study doesn't invite."""
        exclusion_begin(workforce=workforce, surrogate_id=surrogate_id, why=why, now=now)

    def let_back(self, *, workforce: Workforce, surrogate_id: UUID, now: datetime) -> None:
        """Remove a participant from that group."""
        exclusion_end(workforce=workforce, surrogate_id=surrogate_id, now=now)


def _check_reason(reason: str) -> None:
    if len(reason.strip()) < LEAST_REASON:
        raise PayError("prolific_reason", least=LEAST_REASON)
