"""A link for any panel: people come with an id of the panel and leave with a completion code.

Prolific's parameters are recognized by their names (PROLIFIC_PID, STUDY_ID, SESSION_ID). For another panel, the
terms name the parameters for the person and for the visit.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Kind, Outcome, Terms, Unsigned, signature_verify
from workforces.kinds.link.forms import PanelListForm
from workforces.kinds.link.lists import CONFIRM_LIST, lists_shown
from workforces.kinds.link.pay import visit_pay, visit_pay_refuse, visit_refuse
from workforces.kinds.link.terms import LinkTerms, placeholders
from workforces.models import Ticket, TicketState, Workforce
from workforces.services.terms import terms_of

_NAME = re.compile(r"[\w.@+-]{1,120}")


class Link(Kind):
    """People sent by a panel, which can sign their addresses with the secret of the workforce."""

    key: ClassVar[str] = "link"
    title: ClassVar[Any] = _("Panel link")
    door: ClassVar[str] = "join"
    leaves_by_code: ClassVar[bool] = True
    terms_class: ClassVar[type[Terms]] = LinkTerms
    form: ClassVar[str] = "workforces.kinds.link.forms.LinkForm"
    begin: ClassVar[Any] = _("Create the link")
    page: ClassVar[str] = "workforces/kinds/link.html"
    tasks: ClassVar[str] = "workforces.kinds.link.tasks"
    urls: ClassVar[str] = "workforces.kinds.link.urls"
    list_job: ClassVar[str] = CONFIRM_LIST

    def __init__(self, secret: str = "", now: float = 0.0) -> None:
        self.secret = secret
        self.now = now

    def configured(self, secret: str, now: float) -> "Link":
        """Return this kind with the secret of a workforce."""
        return Link(secret, now)

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Return the person who arrives; an address without a person only shows the instructions."""
        assert isinstance(terms, LinkTerms)
        worker = query.get(terms.person_parameter, "").strip()
        if not worker or worker.startswith("{{"):  # a panel's placeholder, when a person tries the link out
            return None
        visit = query.get(terms.visit_parameter, "").strip() or query.get(terms.study_parameter, "").strip() or "-"
        if not _NAME.fullmatch(worker):
            raise ArrivalRefused("arrival_person", parameter=terms.person_parameter)
        if visit != "-" and not _NAME.fullmatch(visit):
            raise ArrivalRefused("arrival_visit", parameter=terms.visit_parameter)
        is_signed = bool(self.secret) and signature_verify(self.secret, query, worker, visit, now=self.now)
        if not is_signed and terms.unsigned == Unsigned.REFUSE:
            raise ArrivalRefused("arrival_unsigned_panel")
        return Arrival(worker=worker, remote_id=visit, is_signed=is_signed)

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return the panel's address with the code of this outcome."""
        assert isinstance(terms, LinkTerms)
        its_code = {
            Outcome.COMPLETED: terms.code_completed,
            Outcome.SCREENED_OUT: terms.code_screened_out,
            Outcome.NOTHING_LEFT: terms.code_nothing_left,
        }[outcome]
        if not terms.return_url:
            return Farewell(code=its_code)
        sign = "&" if "?" in terms.return_url else "?"
        return Farewell(url=f"{terms.return_url}{sign}{urlencode({'cc': its_code})}", code=its_code)

    def shown(self, row: Workforce) -> dict[str, Any]:
        """Return the link for the panel, the number of visits that wait for its list, and its last lists."""
        return {
            "field": f"link-{row.pk}",
            "link": f"{settings.PLATFORM_URL}{row.path}?{placeholders(terms_of(row))}",
            "list_form": PanelListForm(),
            **lists_shown(row),
        }

    def handed_out(self, row: Workforce) -> dict[str, str]:
        """Return the link, and the secret with which a panel signs it."""
        return {"link": settings.PLATFORM_URL + row.path, "secret": row.secret}

    def refuse_pay(
        self, *, ticket_id: int, reason: str, actor_id: UUID, due_at: datetime, now: datetime, mark: str = ""
    ) -> bool:
        """Mark a visit as not to be paid on the panel's list."""
        return visit_pay_refuse(ticket_id, reason, actor_id, now, mark)

    def refuse_doubtful(self, *, ticket: Ticket, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
        """Exclude a doubtful visit."""
        return visit_refuse(ticket, now)

    def pay_refused(self, *, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> None:
        """Mark a visit as to be paid after all on the panel's list; there is no errand to send."""
        visit_pay(ticket)

    def let_pass(self, *, tickets: QuerySet[Ticket], now: datetime) -> None:
        """Settle the pay of finished visits: a manager decided so, or nobody decided in time."""
        tickets.filter(state=TicketState.SUBMITTED, decided_at=None).update(decided_at=now)

    def has_refused(self, *, workforce: Workforce, surrogate_id: UUID) -> bool:
        """Return whether a visit of this person was refused, since each visit is refused separately."""
        own = Ticket.objects.filter(workforce=workforce, surrogate_id=surrogate_id)
        return own.filter(state=TicketState.REFUSED).exists()
