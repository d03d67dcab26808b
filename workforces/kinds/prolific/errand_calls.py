"""The call for each kind of errand, and the record after a successful call."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from database.transactions import durable
from jobs.work import LeaseLost
from workforces.kinds.base import Refused, Unknown, Unreachable
from workforces.kinds.prolific.client import FINISHED, PAID, REJECTED, RETURNED, TIMED_OUT, Prolific
from workforces.models import Errand, ErrandKind, ErrandState, Ticket, TicketState
from workforces.services.identities import person_name
from workforces.services.pay import bonus_paid, ticket_paid
from workforces.services.sending import Effect, Sender
from workforces.services.turns import is_outdated

LEAST_REASON = 100  # characters that a rejection needs
CATEGORY = "OTHER"  # the managers' reason says which of Prolific's it is
SET_UP, PAYING = "set up ", "paying "
UNSURE = timedelta(hours=1)  # after a payment without an answer, until a person has to look at it


class ProlificSender(Sender):
    """The calls to Prolific, one after another: payments compete for one wallet."""

    in_flight = 1
    for_now = ("401", "402", "403")

    def __init__(self, client: Prolific) -> None:
        self.client = client

    def call(self, errand: Errand, *, is_again: bool, now: datetime) -> Effect:
        """Carry out an errand."""
        calls: dict[str, Callable[[Errand, bool, datetime], Effect]] = {
            ErrandKind.APPROVE: self._approve,
            ErrandKind.REJECT: self._reject,
            ErrandKind.BONUS: self._bonus,
            ErrandKind.GRANT: self._grant,
            ErrandKind.REVOKE: self._revoke,
            ErrandKind.NOTIFY: self._notify,
        }
        if errand.kind not in calls:
            raise Unknown(f"there is no {errand.kind} on Prolific")
        return calls[errand.kind](errand, is_again, now)

    def _found(self, ticket: Ticket) -> dict[str, Any]:
        found = self.client.submission(ticket.remote_id)
        if found is None:
            raise Unknown("Prolific lists no such submission")
        if found["status"] not in (FINISHED, *PAID, REJECTED, RETURNED, TIMED_OUT):
            raise Unreachable(f"Prolific still calls the submission {found['status']}")  # the browser was quicker
        return found

    def _approve(self, errand: Errand, _is_again: bool, _now: datetime) -> Effect:  # noqa: FBT001
        ticket = _ticket(errand)
        status = self._found(ticket)["status"]
        if status == REJECTED:
            raise Unknown("it was rejected on Prolific, which is final")
        if status == RETURNED:
            raise Unknown("the participant returned it on Prolific")
        if status not in PAID:
            self.client.approve(ticket.remote_id)
        return lambda at: ticket_paid(ticket=ticket, errand=errand, now=at)

    def _reject(self, errand: Errand, _is_again: bool, _now: datetime) -> Effect:  # noqa: FBT001
        ticket = _ticket(errand)
        status = self._found(ticket)["status"]
        if status in PAID:  # Prolific's clock was quicker: it is paid, and stays so

            def too_late(at: datetime) -> None:
                Errand.objects.filter(pk=errand.pk).update(state=ErrandState.FAILED, error="it was approved before")
                ticket_paid(ticket=ticket, errand=None, now=at)

            return too_late
        if status == FINISHED:
            self.client.reject(ticket.remote_id, errand.text, CATEGORY)
        return lambda at: Ticket.objects.filter(
            pk=ticket.pk, state__in=[TicketState.SUBMITTED, TicketState.UNMATCHED]
        ).update(state=TicketState.REFUSED, decided_at=at)

    def _bonus(self, errand: Errand, is_again: bool, now: datetime) -> Effect:  # noqa: FBT001
        """Pay a bonus in two steps. The second isn't idempotent, so it is never repeated without a look at the books.

        Raises
        ------
        Unknown
            Whether it was paid doesn't show. A manager looks at Prolific's page.
        """
        ticket = _ticket(errand)
        assert ticket.posting is not None
        if is_again and errand.remote_id.startswith(PAYING):
            if self._is_paid(errand, ticket):
                return lambda at: bonus_paid(errand=errand, now=at)
            assert errand.sending_since is not None
            if now - errand.sending_since < UNSURE:
                raise Unreachable("the bonus doesn't show on Prolific yet")
            raise Unknown("Prolific didn't confirm this bonus and doesn't show it: check its page before paying again")
        if not errand.remote_id:
            made = self.client.bonus_set_up(ticket.posting.hit_id, ticket.remote_id, errand.cents)
            _keep(errand, f"{SET_UP}{made}")
        bonus_id = errand.remote_id.removeprefix(SET_UP)
        _keep(errand, f"{PAYING}{bonus_id}")
        try:
            self.client.bonus_pay(bonus_id)
        except Refused:
            _keep(errand, f"{SET_UP}{bonus_id}")  # understood, and not done
            raise
        except Unreachable as error:
            if type(error) is not Unreachable:  # put off: it had no effect
                _keep(errand, f"{SET_UP}{bonus_id}")
            raise
        return lambda at: bonus_paid(errand=errand, now=at)

    def _is_paid(self, errand: Errand, ticket: Ticket) -> bool:
        """Return whether Prolific shows one more bonus of this amount than we know of."""
        found = self.client.submission(ticket.remote_id) or {}
        there = sum(int(cents) == errand.cents for cents in found.get("bonus_payments") or [])
        known = Errand.objects.filter(ticket=ticket, kind=ErrandKind.BONUS, cents=errand.cents)
        return there > known.filter(state=ErrandState.CONFIRMED).count()

    def _group(self, errand: Errand) -> str:
        group = errand.workforce.remote.get("group")
        if not group:
            raise Unknown("the study has no group of excluded people yet")
        return str(group)

    def _grant(self, errand: Errand, _is_again: bool, _now: datetime) -> Effect:  # noqa: FBT001
        if not is_outdated(errand):
            self.client.group_add(self._group(errand), person_name(errand))
        return _nothing

    def _revoke(self, errand: Errand, _is_again: bool, _now: datetime) -> Effect:  # noqa: FBT001
        if not is_outdated(errand):
            self.client.group_remove(self._group(errand), person_name(errand))
        return _nothing

    def _notify(self, errand: Errand, is_again: bool, _now: datetime) -> Effect:  # noqa: FBT001
        if is_again:  # nothing tells whether it arrived, and nobody wants to read it twice
            raise Unknown("the message may have been delivered")
        study = errand.workforce.postings.exclude(hit_id="").order_by("-number").first()
        if study is None:
            raise Unknown("there is no study yet")
        self.client.message(study.hit_id, person_name(errand), errand.text)
        return _nothing


def _ticket(errand: Errand) -> Ticket:
    assert errand.ticket_id is not None
    return Ticket.objects.select_related("workforce", "posting__workforce").get(pk=errand.ticket_id)


@durable
def _keep(errand: Errand, remote_id: str) -> None:
    """Store which step of a payment comes next, before it is taken; a worker that lost the errand takes none.

    Raises
    ------
    LeaseLost
    """
    times = {"sending_since": timezone.now()} if remote_id.startswith(PAYING) else {}
    own = Errand.objects.filter(pk=errand.pk, state=ErrandState.SENDING, attempts=errand.attempts + 1)
    if not own.filter(remote_id=errand.remote_id).update(remote_id=remote_id, **times):
        raise LeaseLost
    errand.remote_id = remote_id


def _nothing(at: datetime) -> None:
    """Do nothing when the errand is confirmed."""
