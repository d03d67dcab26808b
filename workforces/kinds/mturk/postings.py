"""Postings: the HITs that a campaign needs now, and those that are no longer needed."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from accounts.audit import record
from database.statements import Statement, Update
from workforces.kinds.base import Arrival
from workforces.models import (
    MOST_PLACES,
    Errand,
    ErrandKind,
    ErrandState,
    Posting,
    PostingState,
    Ticket,
    TicketState,
    Workforce,
)
from workforces.services.exclusions import exclusions_end
from workforces.services.needs import open_slots, spending_note
from workforces.services.outbox import errand_add
from workforces.services.pay import PayError, committed_cents, place_cents, workforce_lock
from workforces.services.terms import terms_of
from workforces.services.tickets import TicketRefused

MOST_OPEN_POSTINGS = 200
MOST_FINISHED = 1_000  # postings that are ended in one go
HANDED_IN = [TicketState.SUBMITTED, TicketState.UNMATCHED, TicketState.APPROVED, TicketState.REFUSED]


def postings_adjust(*, workforce: Workforce, now: datetime) -> int:
    """Post missing HITs and end unneeded ones; return the number of new assignments."""
    terms = terms_of(workforce)
    _give_up_unpostable(workforce)
    _end_finished(workforce, now)
    wanted = open_slots(workforce, most=MOST_OPEN_POSTINGS * 9)
    in_time = now - timedelta(seconds=terms.assignment_seconds + settings.MTURK_GRACE_SECONDS)
    live = list(
        workforce.postings.filter(state__in=[PostingState.WANTED, PostingState.OPEN], owed_to=None)
        .annotate(
            taken=Count("tickets", filter=~Q(tickets__state=TicketState.LAPSED)),
            in_work=Count("tickets", filter=Q(tickets__state=TicketState.OPEN, tickets__opened_at__gte=in_time)),
        )
        .order_by("number")
    )
    if not wanted:
        for posting in live:
            posting_end(posting=posting, now=now)
        return 0
    stale = [
        posting
        for posting in live
        if _is_stale(posting, is_in_work=posting.in_work > 0, seconds=terms.stale_seconds, now=now)
    ]
    for posting in stale:
        posting_end(posting=posting, now=now)
    if stale:
        exclusions_end(workforce, now)
    free = [
        posting.places - posting.taken for posting in live if posting not in stale and posting.places > posting.taken
    ]
    missing = -(-wanted // terms.items_per_ticket) - sum(free)
    room = MOST_OPEN_POSTINGS - len(free)  # those that nobody can take any more keep no place
    return _post(workforce, terms, missing, room, now) if missing > 0 else 0


def _give_up_unpostable(workforce: Workforce) -> None:
    """Settle postings refused by the marketplace or given up by a manager; their assignments are posted elsewhere.

    A posting that pays a debt to one person waits until a manager gives it up.
    """
    publishing = Errand.objects.filter(posting=OuterRef("pk"), kind=ErrandKind.PUBLISH)
    failed, given_up = publishing.filter(state=ErrandState.FAILED), publishing.filter(state=ErrandState.UNDONE)
    unpostable = Q(Exists(failed), owed_to=None) | Q(Exists(given_up))
    workforce.postings.filter(unpostable, state=PostingState.WANTED).update(state=PostingState.SETTLED)


def _end_finished(workforce: Workforce, now: datetime) -> None:
    """End postings whose assignments are all submitted.

    The marketplace offers them to nobody, so it needn't be told.
    """
    handed_in = Q(tickets__state__in=HANDED_IN)
    whole = workforce.postings.filter(state=PostingState.OPEN, owed_to=None)
    whole = whole.annotate(done=Count("tickets__remote_id", filter=handed_in, distinct=True)).filter(
        done__gte=F("places")
    )
    keys = list(whole.order_by("pk").values_list("pk", flat=True)[:MOST_FINISHED])
    Posting.objects.filter(pk__in=keys, state=PostingState.OPEN).update(state=PostingState.ENDED, touched_at=now)


def postings_settle(*, workforce: Workforce) -> int:
    """Settle ended postings whose assignments were all read and decided; return their number.

    An assignment that was submitted keeps its worker, and no other one can come, so there is nothing left to read.
    """
    own = Ticket.objects.filter(posting=OuterRef("pk"))
    decided = Q(tickets__state__in=[TicketState.APPROVED, TicketState.REFUSED])
    whole = (
        workforce.postings.filter(~Exists(own.filter(is_waiting())), state=PostingState.ENDED, owed_to=None)
        .annotate(done=Count("tickets__remote_id", filter=decided, distinct=True))
        .filter(done__gte=F("places"))
    )
    keys = list(whole.order_by("pk").values_list("pk", flat=True)[:MOST_FINISHED])
    return Posting.objects.filter(pk__in=keys, state=PostingState.ENDED).update(state=PostingState.SETTLED)


def is_waiting() -> Q:
    """Return the condition for tickets that keep a posting from being settled."""
    undecided = Q(state__in=[TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED])
    return undecided | Q(state=TicketState.OPEN, work__isnull=False)


def _is_stale(posting: Posting, *, is_in_work: bool, seconds: int, now: datetime) -> bool:
    """Return whether a posting has expired, or nobody took it for a given time and nobody is working on it."""
    if posting.state != PostingState.OPEN:
        return False
    if posting.expires_at is not None and posting.expires_at < now:
        return True
    return not is_in_work and posting.touched_at < now - timedelta(seconds=seconds)


def _post(workforce: Workforce, terms: Any, missing: int, room: int, now: datetime) -> int:
    if Errand.objects.filter(workforce=workforce, kind=ErrandKind.PUBLISH, state=ErrandState.FAILED).exists():
        return 0  # what refused one would refuse the next: a person has to look first
    workforce_lock(workforce)  # a bonus that is granted at this moment is seen, or sees these postings
    if terms.cap_cents is not None:
        affordable = max(0, terms.cap_cents - committed_cents(workforce)) // sum(place_cents(workforce, terms))
        spending_note(workforce, is_stopped=affordable < missing, now=now)
        missing = min(missing, affordable)
    most = terms.places or min(MOST_PLACES, max(workforce.campaign.splits.values_list("n", flat=True), default=1))
    posted = 0
    while posted < missing and room > 0:
        places = min(most, missing - posted)
        with transaction.atomic():
            _posting_add(workforce, places, workforce.terms, now)
        posted += places
        room -= 1
    return posted


def compensation_post(
    *, workforce: Workforce, surrogate_id: UUID, cents: int, reason: str, actor_id: UUID, now: datetime
) -> Posting:
    """Post a HIT that only one person can accept, to pay them for work that they couldn't submit.

    A marketplace pays for submitted assignments only, so a person who lost their assignment needs another one.

    Raises
    ------
    PayError
        The amount or the reason is missing.
    """
    if cents < 1 or not reason.strip():
        raise PayError("owed_incomplete")
    terms = {
        **workforce.terms,
        "reward_cents": cents,
        "title": "Payment for work you did",
        "description": reason[:500],
        "qualification": "own",
        "training_bonus_cents": 0,
        "items_per_ticket": 1,
    }
    with transaction.atomic():
        posting = _posting_add(workforce, 1, terms, now, owed_to=surrogate_id)
        record(
            action="compensation_post",
            subject=posting,
            now=now,
            actor_id=actor_id,
            scope_id=workforce.campaign_id,
            cents=cents,
            reason=reason[:300],
        )
    return posting


def _posting_add(
    workforce: Workforce, places: int, terms: dict[str, Any], now: datetime, *, owed_to: UUID | None = None
) -> Posting:
    if not 1 <= places <= MOST_PLACES:
        raise ValueError(f"HIT of {places} places; from 1 to {MOST_PLACES} can be posted")
    row = Workforce.objects.select_for_update(no_key=True).get(pk=workforce.pk)
    Workforce.objects.filter(pk=row.pk).update(serial=row.serial + 1)
    posting = Posting.objects.create(
        workforce=workforce,
        number=row.serial + 1,
        places=places,
        wanted_at=now,
        touched_at=now,
        terms=terms,
        owed_to_id=owed_to,
    )
    errand_add(
        workforce=workforce,
        kind=ErrandKind.PUBLISH,
        posting=posting,
        due_at=now,
        surrogate_id=owed_to,
        token=f"{workforce.campaign_id.hex}-{posting.number}",
    )
    return posting


def posting_end(*, posting: Posting, now: datetime) -> None:
    """Stop new workers from accepting a posting; accepted assignments can be finished."""
    with transaction.atomic():
        if posting.state == PostingState.WANTED:
            waiting = Errand.objects.filter(posting=posting, kind=ErrandKind.PUBLISH, state=ErrandState.DUE)
            if waiting.update(state=ErrandState.UNDONE):
                Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
            return  # being sent at this moment: it is ended in the next round
        if Posting.objects.filter(pk=posting.pk, state=PostingState.OPEN).update(state=PostingState.ENDING):
            errand_add(
                workforce=posting.workforce,
                kind=ErrandKind.EXPIRE,
                posting=posting,
                due_at=now,
                token=f"expire-{posting.pk}",
            )


def posting_find(workforce: Workforce, arrival: Arrival, now: datetime) -> Posting:
    """Return the posting of an arrival; raise `TicketRefused` if it doesn't belong to this campaign."""
    posting: Posting | None = _BY_HIT.first(workforce.pk, arrival.posting)
    if posting is None and workforce.postings.filter(state=PostingState.WANTED).exists():
        raise TicketRefused("hit_too_fresh")
    if posting is None:
        raise TicketRefused("hit_other_campaign")
    if posting.state == PostingState.SETTLED:
        raise TicketRefused("hit_over")
    _TOUCH.run(posting.pk, now)
    return posting


_BY_HIT = Statement(
    lambda workforce, hit_id: Posting.objects.filter(workforce_id=workforce, hit_id=hit_id).order_by("pk")[:1], int, str
)
_TOUCH = Update(lambda pk, at: (Posting.objects.filter(pk=pk), {"touched_at": at}), int, datetime)
