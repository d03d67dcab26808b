"""Errands at the marketplace: due, sending, confirmed. Every call is outside of a transaction.

A worker can die between any two lines. Before the call the row says ``sending``; whoever comes next sees
that, and either sends the same token again (the marketplace knows it for a day) or reads back first.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.audit import record
from accounts.models import ExternalIdentity
from database.transactions import is_transient
from jobs.work import LeaseLost, Work, WorkerStopping
from workforces.kinds.mturk.client import Market, Refused, Requirement, Unreachable, everybody, only_holders
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
from workforces.services.identities import is_person_known
from workforces.services.inflight import run_in_flight
from workforces.services.outbox import OVERRIDE, appeal_token
from workforces.services.pay import bonus_paid, ticket_paid
from workforces.services.refusals import refusal_make_good
from workforces.services.statements import statement_path
from workforces.services.terms import posting_terms

logger = logging.getLogger(__name__)

TOKEN_LIFE = timedelta(hours=23)  # the marketplace keeps tokens for 24 hours
# Refusals that a person can fix at the marketplace or in the settings: the same errand is tried again.
FOR_NOW = (
    "InsufficientFunds",
    "UnrecognizedClient",
    "InvalidSignature",
    "InvalidClientTokenId",
    "AccessDenied",
    "NotAuthorized",
)

# One of each kind, and five publications: people look for work now, and pay has hours.
TURN = [ErrandKind.PUBLISH] * 4 + list(ErrandKind)

# What a call brought: what to write down in the transaction that confirms the errand.
Effect = Callable[[datetime], object]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an errand; ``is_again``: an earlier one may have got through."""

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
        """The posting it is about."""
        assert self.errand.posting is not None
        return self.errand.posting

    @property
    def ticket(self) -> Ticket:
        """The ticket it is about."""
        assert self.errand.ticket is not None
        return self.errand.ticket


class Unknown(Exception):
    """A person or something that an errand is about is not known any more."""


def errands_run(*, work: Work, market: Market, workforce: Workforce, seconds: float) -> tuple[int, bool]:
    """Do what is due for some seconds, several errands at once; return how many were confirmed, and whether all began.

    The kinds take turns, so that ten thousand approvals keep no posting waiting, nor the other way round.
    """
    confirmed: list[int] = []
    if not workforce.remote.get("exclusion") and _is_exclusion_due(workforce):
        with suppress(Refused):  # each errand that needs it meets the refusal, and is failed by it
            exclusion_id(market, workforce)

    def do(errand: Errand) -> None:
        if _run(work, market, errand, timezone.now()):
            confirmed.append(errand.pk)

    all_begun = run_in_flight(_due_in_turns(workforce), do, calls=settings.MTURK_CALLS_IN_FLIGHT, seconds=seconds)
    return len(confirmed), all_begun


_WORDS = [ErrandKind.GRANT, ErrandKind.REVOKE]


def _earlier_word(pk: Any, surrogate: Any) -> QuerySet[Errand]:
    """Return what is still to be done about keeping a person out or letting them back, before a later word on it."""
    waiting = Errand.objects.filter(kind__in=_WORDS, state__in=[ErrandState.DUE, ErrandState.SENDING])
    return waiting.filter(surrogate=surrogate, pk__lt=pk)


def _is_outdated(errand: Errand) -> bool:
    """Return whether there is a later word on keeping this person out or letting them back."""
    later = Errand.objects.filter(workforce=errand.workforce_id, surrogate=errand.surrogate_id, kind__in=_WORDS)
    return later.filter(pk__gt=errand.pk).exclude(state=ErrandState.UNDONE).exists()


def _is_exclusion_due(workforce: Workforce) -> bool:
    """Return whether an errand is due that needs the exclusion qualification: made once, not by several at once."""
    kinds = [ErrandKind.PUBLISH, ErrandKind.GRANT, ErrandKind.REVOKE]
    waiting = Errand.objects.filter(workforce=workforce, kind__in=kinds, due_at__lte=timezone.now())
    return waiting.filter(state__in=[ErrandState.DUE, ErrandState.SENDING]).exists()


def _cannot_be_told() -> Q:
    """Return which notices have to wait: the marketplace tells only whom something was decided about, and it will be."""
    own = Ticket.objects.filter(workforce=OuterRef("workforce"), surrogate=OuterRef("surrogate"))
    decided = own.filter(state__in=[TicketState.APPROVED, TicketState.REFUSED])
    return Q(kind=ErrandKind.NOTIFY) & ~Exists(decided) & Exists(own.exclude(state=TicketState.LAPSED))


def _due_in_turns(workforce: Workforce) -> Iterator[Errand]:
    """Yield errands that are due, each once, some of a kind after some of the other, the oldest of each first."""
    too_early = Exists(_earlier_word(OuterRef("pk"), OuterRef("surrogate")).filter(workforce=workforce))
    waiting = Errand.objects.filter(
        workforce=workforce, due_at__lte=timezone.now(), state__in=[ErrandState.DUE, ErrandState.SENDING]
    )
    due = (
        waiting.exclude(too_early, kind__in=_WORDS)
        .exclude(_cannot_be_told())
        .select_related("posting", "ticket__workforce", "workforce__campaign")
    )
    after = {kind: Q() for kind in waiting.values_list("kind", flat=True).distinct().order_by()}  # mostly none
    while after:
        for kind in filter(after.__contains__, TURN):
            errand = due.filter(after[kind], kind=kind).order_by("due_at", "pk").first()
            if errand is None:
                del after[kind]
                continue
            after[kind] = Q(due_at__gt=errand.due_at) | Q(due_at=errand.due_at, pk__gt=errand.pk)
            yield errand


def _run(work: Work, market: Market, errand: Errand, now: datetime) -> bool:
    again = errand.state == ErrandState.SENDING
    with work.step_beside():
        taken = Errand.objects.filter(pk=errand.pk, state=errand.state, attempts=errand.attempts).update(
            state=ErrandState.SENDING, sending_since=errand.sending_since or now, attempts=errand.attempts + 1
        )
    if not taken:  # it was undone, or is another worker's
        return False
    errand.sending_since = errand.sending_since or now
    try:
        effect = _HANDLERS[ErrandKind(errand.kind)](Attempt(market, errand, again, now))
    except Unreachable as error:
        _later(work, errand, str(error), now)
        return False
    except Refused as error:
        if any(code in error.code for code in FOR_NOW):
            _later(work, errand, str(error), now, is_refused=True)
        else:
            _fail(work, errand, str(error), now)
        return False
    except (LeaseLost, WorkerStopping):
        raise
    except Exception as error:  # whatever it is, it must not keep the errands behind it from being done
        if is_transient(error):
            raise
        if not isinstance(error, Unknown):
            logger.exception("errand %s (%s) failed", errand.pk, errand.kind)
        _fail(work, errand, str(error) or repr(error), now)
        return False
    with work.step_beside():
        done = Errand.objects.filter(pk=errand.pk, state=ErrandState.SENDING).update(
            state=ErrandState.CONFIRMED, confirmed_at=timezone.now(), error=""
        )
        if done:
            effect(timezone.now())
    return bool(done)


def _later(work: Work, errand: Errand, error: str, now: datetime, *, is_refused: bool = False) -> None:
    """Leave it as ``sending``: it may have got through. What was refused for now is tried ever more rarely."""
    seconds = min(60 * 2 ** min(errand.attempts, 6), 3600) if is_refused else settings.MTURK_RETRY_SECONDS
    with work.step_beside():
        Errand.objects.filter(pk=errand.pk).update(due_at=now + timedelta(seconds=seconds), error=error[:500])


def _fail(work: Work, errand: Errand, error: str, now: datetime) -> None:
    """Give it to a person: nothing is dropped in silence."""
    with work.step_beside():
        Errand.objects.filter(pk=errand.pk).update(state=ErrandState.FAILED, error=error[:500])
        if errand.kind == ErrandKind.APPROVE and errand.text == OVERRIDE and errand.ticket is not None:
            # An appeal was granted and the marketplace does not let us approve any more: it is paid all the same.
            refusal_make_good(ticket=errand.ticket, reason="Paid after an appeal", actor_id=None, now=now)
        record(
            action="errand_fail",
            subject=errand,
            now=now,
            actor_id=None,
            scope_id=errand.workforce.campaign_id,
            kind=errand.kind,
            error=error[:300],
        )


def worker_name(errand: Errand) -> str:
    """Return what the marketplace calls the person of an errand."""
    if errand.surrogate_id is None:
        raise Unknown("this errand is about nobody")
    name = ExternalIdentity.objects.filter(surrogate_id=errand.surrogate_id).values_list("name", flat=True).first()
    if name is None:
        raise Unknown("this person was erased")
    return name


def exclusion_id(market: Market, workforce: Workforce) -> str:
    """Return the id of the qualification that keeps people from more postings of a campaign."""
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
        f"Quorate {errand.token}", "Given to a person who is owed for work that could not be handed in."
    )
    market.grant(owed, worker_name(errand))
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
    """Return what the marketplace says of a ticket; the id may be another person's by now.

    Of a person who was erased only the ticket is known: their work is paid all the same.
    """
    found = market.assignment(ticket.remote_id)
    known = ExternalIdentity.objects.filter(surrogate_id=errand.surrogate_id or ticket.surrogate_id)
    name = known.values_list("name", flat=True).first()
    if found is None or (name is not None and found.worker != name):
        raise Unknown("the marketplace lists no such submission of this person")
    return found.status


def _approve(attempt: Attempt) -> Effect:
    market, errand, ticket = attempt.market, attempt.errand, attempt.ticket
    status = _status(market, errand, ticket)
    if status == "Rejected" and errand.text != OVERRIDE:
        raise Unknown("it was refused outside of this platform")
    if status != "Approved":
        _decide(lambda: market.approve(ticket.remote_id, override=status == "Rejected"), attempt, "Approved")
    return lambda at: ticket_paid(ticket=ticket, errand=errand, now=at)


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
    """Make a call that decides a submission; one that is refused because it got through before is done."""
    try:
        call()
    except Refused:  # the client itself tries again when a reply is lost
        if _status(attempt.market, attempt.errand, attempt.ticket) != wanted:
            raise


def _appeal_line(errand: Errand) -> str:
    """Return where the person can read what became of their work, and appeal."""
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
            ticket.remote_id, worker_name(errand), errand.cents, reason=f"{errand.text} {mark}", token=errand.token
        )
    return lambda at: bonus_paid(errand=errand, now=at)


def _grant(attempt: Attempt) -> Effect:
    market, errand = attempt.market, attempt.errand
    if not _is_outdated(errand):
        market.grant(exclusion_id(market, errand.workforce), worker_name(errand))
    return _nothing


def _revoke(attempt: Attempt) -> Effect:
    market, errand = attempt.market, attempt.errand
    if not _is_outdated(errand):
        market.revoke(exclusion_id(market, errand.workforce), worker_name(errand), errand.text)
    return _nothing


def _notify(attempt: Attempt) -> Effect:
    errand = attempt.errand
    failure = attempt.market.notify(worker_name(errand), str(errand.workforce.campaign), errand.text)
    if failure:
        raise Unknown(failure)
    return _nothing


def _nothing(at: datetime) -> None:
    """Confirm, and no more."""


_HANDLERS: dict[ErrandKind, Callable[[Attempt], Effect]] = {
    ErrandKind.PUBLISH: _publish,
    ErrandKind.EXPIRE: _expire,
    ErrandKind.APPROVE: _approve,
    ErrandKind.REJECT: _reject,
    ErrandKind.BONUS: _bonus,
    ErrandKind.GRANT: _grant,
    ErrandKind.REVOKE: _revoke,
    ErrandKind.NOTIFY: _notify,
}
