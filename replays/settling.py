"""Waiting until everyone in a campaign at a marketplace is paid."""

import time
from collections.abc import Callable

from annotation.models import Annotation, AnnotationState, Campaign
from workforces.models import Errand, ErrandState, Posting, PostingState, Ticket, TicketState


class Stuck(RuntimeError):
    """A run didn't end in time. A replay continues when it is started again."""


def settle(campaign: Campaign, deadline: float, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Wait until all work of a closed campaign is paid, and the marketplace holds no money for it.

    An ended posting isn't settled while someone has accepted an assignment: its cost is held until it is given back, or
    until its deadline has passed.

    Raises
    ------
    Stuck
        That didn't happen before the deadline, in seconds of the monotonic clock.
    """
    settled = (TicketState.APPROVED, TicketState.REFUSED, TicketState.LAPSED)
    while True:
        meanwhile()
        tickets = Ticket.objects.filter(workforce__campaign=campaign).exclude(state__in=settled)
        # What was accepted and given back at the marketplace is nobody's any more.
        given_back = tickets.filter(state=TicketState.OPEN, work=None)
        errands = Errand.objects.filter(workforce__campaign=campaign, state__in=[ErrandState.DUE, ErrandState.SENDING])
        waiting = tickets.count() - given_back.count()
        postings = Posting.objects.filter(workforce__campaign=campaign).exclude(state=PostingState.SETTLED)
        if not (waiting or errands.exists() or _owed(campaign) or postings.exists()):
            return
        if time.monotonic() > deadline:
            said = f"{waiting} tickets, {errands.count()} errands and {postings.count()} postings aren't settled yet"
            raise Stuck(said)
        time.sleep(0.5)


def _owed(campaign: Campaign) -> bool:
    return Annotation.objects.filter(campaign=campaign, state=AnnotationState.PROVISIONAL).exists()
