"""The marketplace call for each kind of errand, and the record after a successful call."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from accounts.models import ExternalIdentity
from workforces.kinds.base import Refused, Unknown
from workforces.kinds.mturk.client import Market, Requirement, everybody, only_holders
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    Posting,
    PostingState,
    Ticket,
    TicketState,
    Workforce,
)
from workforces.services.identities import is_person_known, person_name
from workforces.services.outbox import OVERRIDE, appeal_token
from workforces.services.pay import bonus_paid, ticket_paid
from workforces.services.sending import Effect, Sender
from workforces.services.statements import statement_path
from workforces.services.terms import posting_terms
from workforces.services.turns import is_exclusion_due, is_outdated

TOKEN_LIFE = timedelta(hours=23)  # the marketplace keeps tokens for 24 hours


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an errand; ``is_again``: an earlier attempt may have succeeded."""

    market: Market
    errand: Errand
    is_again: bool
    now: datetime

    @property
    def is_forgotten(self) -> bool:
        """Return whether the marketplace may have forgotten the token of the first attempt."""
        assert self.errand.sending_since is not None
        return self.is_again and self.now - self.errand.sending_since > TOKEN_LIFE

    @property
    def posting(self) -> Posting:
        """The posting of the errand."""
        assert self.errand.posting is not None
        return self.errand.posting

    @property
    def ticket(self) -> Ticket:
        """The ticket of the errand."""
        assert self.errand.ticket is not None
        return self.errand.ticket


def exclusion_id(market: Market, workforce: Workforce) -> str:
    """Return the id of the qualification that excludes people from further postings of a campaign."""
    known = workforce.remote.get("exclusion")
    if known is None:
        known = market.qualification(
            f"Quorate {workforce.campaign.slug} {workforce.campaign_id} has no more work",
            "Given to people for whom a campaign has no more work.",
        )
        remote = {**Workforce.objects.values_list("remote", flat=True).get(pk=workforce.pk), "exclusion": known}
        Workforce.objects.filter(pk=workforce.pk).update(remote=remote)
        workforce.remote = remote
    return str(known)


def _publish(attempt: Attempt) -> Effect:
    market, errand, posting = attempt.market, attempt.errand, attempt.posting
    terms = posting_terms(posting)
    hit_id = market.find(errand.token) if attempt.is_forgotten else None
    if hit_id is None:
        hit_id = market.publish(
            terms,
            url=f"{settings.PLATFORM_URL}{errand.workforce.path}",
            token=errand.token,
            places=posting.places,
            requirements=_requirements(attempt),
        )
    expires_at = attempt.now + timedelta(seconds=terms.lifetime_seconds)

    def effect(at: datetime) -> None:
        Posting.objects.filter(pk=posting.pk).update(
            hit_id=hit_id, expires_at=expires_at, touched_at=at, state=PostingState.OPEN
        )

    return effect


def _requirements(attempt: Attempt) -> list[Requirement]:
    market, errand, posting = attempt.market, attempt.errand, attempt.posting
    if posting.owed_to_id is None:
        return everybody(posting_terms(posting), exclusion_id(market, errand.workforce))
    owed = market.qualification(
        f"Quorate {errand.token}", "Granted to a worker who is owed pay for work that couldn't be submitted."
    )
    market.grant(owed, person_name(errand))
    return only_holders(owed)


def _expire(attempt: Attempt) -> Effect:
    posting = attempt.posting
    try:
        attempt.market.expire(posting.hit_id)
    except Refused as error:
        if "DoesNotExist" not in error.code:
            raise
    return lambda at: Posting.objects.filter(pk=posting.pk, state=PostingState.ENDING).update(
        state=PostingState.ENDED, touched_at=at
    )


def _status(market: Market, errand: Errand, ticket: Ticket) -> str:
    """Return the marketplace's status of a ticket; its id may belong to another person by now.

    For an erased person only the ticket is known; their work is still paid.
    """
    found = market.assignment(ticket.remote_id)
    known = ExternalIdentity.objects.filter(surrogate_id=errand.surrogate_id or ticket.surrogate_id)
    name = known.values_list("name", flat=True).first()
    if found is None or (name is not None and found.worker != name):
        raise Unknown("the marketplace lists no such submission of this person")
    return found.status


def _approve(attempt: Attempt) -> Effect:
    market, errand, ticket = attempt.market, attempt.errand, attempt.ticket

    def paid(at: datetime) -> None:
        ticket_paid(ticket=ticket, errand=errand, now=at)

    if ticket.state == TicketState.SUBMITTED and not attempt.is_again and errand.text != OVERRIDE:
        with suppress(Refused):  # then its status says why
            market.approve(ticket.remote_id)
            return paid
    status = _status(market, errand, ticket)
    if status == "Rejected" and errand.text != OVERRIDE:
        raise Unknown("it was refused outside of this platform")
    if status != "Approved":
        _decide(lambda: market.approve(ticket.remote_id, override=status == "Rejected"), attempt, "Approved")
    return paid


def _reject(attempt: Attempt) -> Effect:
    market, errand, ticket = attempt.market, attempt.errand, attempt.ticket
    status = _status(market, errand, ticket)
    if status == "Approved":  # the marketplace's clock was quicker: it is paid, and stays so

        def too_late(at: datetime) -> None:
            Errand.objects.filter(pk=errand.pk).update(state=ErrandState.FAILED, error="it was approved before")
            ticket_paid(ticket=ticket, errand=None, now=at)

        return too_late
    if status != "Rejected":
        text = f"{errand.text[:700]} {_appeal_line(errand)}"
        _decide(lambda: market.reject(ticket.remote_id, text), attempt, "Rejected")
    return lambda at: Ticket.objects.filter(
        pk=ticket.pk, state__in=[TicketState.SUBMITTED, TicketState.UNMATCHED]
    ).update(state=TicketState.REFUSED, decided_at=at)


def _decide(call: Callable[[], object], attempt: Attempt, wanted: str) -> None:
    """Call to decide a submission; a call refused because an earlier attempt succeeded counts as done."""
    try:
        call()
    except Refused:  # the client itself tries again when a reply is lost
        if _status(attempt.market, attempt.errand, attempt.ticket) != wanted:
            raise


def _appeal_line(errand: Errand) -> str:
    """Return the line with the address where the person can see the result of their work, and appeal."""
    if errand.ticket is None or not is_person_known(errand.ticket.surrogate_id):  # who has no statement cannot read it
        return ""
    return f"You can ask for another look: {settings.PLATFORM_URL}{statement_path(errand.ticket)}"


def _bonus(attempt: Attempt) -> Effect:
    market, errand, ticket = attempt.market, attempt.errand, attempt.ticket
    mark = f"(ref {errand.token[-24:]})"  # by which it is found again when the token is forgotten
    paid = attempt.is_again and any(
        cents == errand.cents and reason.endswith(mark)
        for _, cents, reason in market.bonuses(remote_id=ticket.remote_id)
    )
    makes_good = errand.token == appeal_token(ticket.pk)
    if makes_good and not paid and _status(market, errand, ticket) == "Approved":  # the refusal was taken back there
        return lambda at: ticket_paid(ticket=ticket, errand=errand, now=at)
    if not paid:
        market.bonus(
            ticket.remote_id, person_name(errand), errand.cents, reason=f"{errand.text} {mark}", token=errand.token
        )
    return lambda at: bonus_paid(errand=errand, now=at)


def _grant(attempt: Attempt) -> Effect:
    market, errand = attempt.market, attempt.errand
    if not is_outdated(errand):
        market.grant(exclusion_id(market, errand.workforce), person_name(errand))
    return _nothing


def _revoke(attempt: Attempt) -> Effect:
    market, errand = attempt.market, attempt.errand
    if not is_outdated(errand):
        market.revoke(exclusion_id(market, errand.workforce), person_name(errand), errand.text)
    return _nothing


def _notify(attempt: Attempt) -> Effect:
    errand = attempt.errand
    failure = attempt.market.notify(person_name(errand), str(errand.workforce.campaign), errand.text)
    if failure:
        raise Unknown(failure)
    return _nothing


def _nothing(at: datetime) -> None:
    """Do nothing when the errand is confirmed."""


CALLS: dict[ErrandKind, Callable[[Attempt], Effect]] = {
    ErrandKind.PUBLISH: _publish,
    ErrandKind.EXPIRE: _expire,
    ErrandKind.APPROVE: _approve,
    ErrandKind.REJECT: _reject,
    ErrandKind.BONUS: _bonus,
    ErrandKind.GRANT: _grant,
    ErrandKind.REVOKE: _revoke,
    ErrandKind.NOTIFY: _notify,
}


class MTurkSender(Sender):
    """The calls to a marketplace."""

    for_now = (
        "InsufficientFunds",
        "UnrecognizedClient",
        "InvalidSignature",
        "InvalidClientTokenId",
        "AccessDenied",
        "NotAuthorized",
    )

    def __init__(self, market: Market) -> None:
        self.market = market
        self.in_flight = settings.MTURK_CALLS_IN_FLIGHT
        self.retry_seconds = settings.MTURK_RETRY_SECONDS

    def prepare(self, workforce: Workforce) -> None:
        """Create the qualification of excluded people once, not concurrently."""
        if not workforce.remote.get("exclusion") and is_exclusion_due(workforce):
            with suppress(Refused):  # each errand that needs it meets the refusal, and is failed by it
                exclusion_id(self.market, workforce)

    def call(self, errand: Errand, *, is_again: bool, now: datetime) -> Effect:
        """Carry out an errand."""
        return CALLS[ErrandKind(errand.kind)](Attempt(self.market, errand, is_again, now))
