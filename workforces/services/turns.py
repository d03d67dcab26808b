"""The selection and order of due errands."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    Ticket,
    TicketState,
    Workforce,
)

# One of each kind, and five publications: people look for work now, and pay has hours.
TURN = [ErrandKind.PUBLISH] * 4 + list(ErrandKind)


WORDS = [ErrandKind.GRANT, ErrandKind.REVOKE]
ONE_BY_ONE = [*WORDS, ErrandKind.NOTIFY]  # whether one may be sent can depend on the one before
AT_ONCE = 20  # of another kind, that one statement reads


def _earlier_word(pk: Any, surrogate: Any) -> QuerySet[Errand]:
    """Return pending errands about excluding or readmitting a person that precede a later one."""
    waiting = Errand.objects.filter(kind__in=WORDS, state__in=[ErrandState.DUE, ErrandState.SENDING])
    return waiting.filter(surrogate=surrogate, pk__lt=pk)


def is_outdated(errand: Errand) -> bool:
    """Return whether a later errand about excluding or readmitting this person exists."""
    later = Errand.objects.filter(workforce=errand.workforce_id, surrogate=errand.surrogate_id, kind__in=WORDS)
    return later.filter(pk__gt=errand.pk).exclude(state=ErrandState.UNDONE).exists()


def is_exclusion_due(workforce: Workforce) -> bool:
    """Return whether a due errand needs the exclusion qualification.

    The qualification is created once, not concurrently.
    """
    kinds = [ErrandKind.PUBLISH, ErrandKind.GRANT, ErrandKind.REVOKE]
    waiting = Errand.objects.filter(workforce=workforce, kind__in=kinds, due_at__lte=timezone.now())
    return waiting.filter(state__in=[ErrandState.DUE, ErrandState.SENDING]).exists()


def _cannot_be_told() -> Q:
    """Return the condition for notices that have to wait.

    The marketplace notifies only people with a decided assignment, and these people's decisions are still pending.
    """
    own = Ticket.objects.filter(workforce=OuterRef("workforce"), surrogate=OuterRef("surrogate"))
    decided = own.filter(state__in=[TicketState.APPROVED, TicketState.REFUSED])
    return Q(kind=ErrandKind.NOTIFY) & ~Exists(decided) & Exists(own.exclude(state=TicketState.LAPSED))


def due_in_turns(workforce: Workforce) -> Iterator[Errand]:
    """Yield due errands, each once, alternating between kinds, the oldest of each first."""
    too_early = Exists(_earlier_word(OuterRef("pk"), OuterRef("surrogate")).filter(workforce=workforce))
    waiting = Errand.objects.filter(
        workforce=workforce, due_at__lte=timezone.now(), state__in=[ErrandState.DUE, ErrandState.SENDING]
    )
    due = (
        waiting.exclude(too_early, kind__in=WORDS)
        .exclude(_cannot_be_told())
        .select_related("posting", "ticket__workforce", "workforce__campaign")
    )
    kinds = waiting.values_list("kind", flat=True).distinct().order_by()  # mostly none
    ready: dict[str, deque[Errand]] = {kind: deque() for kind in kinds}
    after = {kind: Q() for kind in ready}
    while ready:
        for kind in filter(ready.__contains__, TURN):
            if not ready[kind]:
                rows = due.filter(after[kind], kind=kind).order_by("due_at", "pk")
                ready[kind].extend(rows[: 1 if kind in ONE_BY_ONE else AT_ONCE])
            if not ready[kind]:
                del ready[kind]
                continue
            errand = ready[kind].popleft()
            after[kind] = Q(due_at__gt=errand.due_at) | Q(due_at=errand.due_at, pk__gt=errand.pk)
            yield errand
