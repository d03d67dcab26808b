"""The review queue: pending decisions, one page per kind."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from django.utils.translation import ngettext_lazy

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import Campaign, Participation
from quality.experts.selectors import discussions_overdue
from quality.models import Case, CaseState, Flag, Inspection, Review, ReviewState, Unexamined
from quality.people.selectors.names import names_of
from workforces.models import Appeal, AppealState, Errand, ErrandKind, ErrandState, Ticket, TicketState

MOST = 50
OF_PEOPLE = ("reviews", "suspended", "appeals", "unmatched", "undoable")  # shown with whom they are about
# The names of the kinds that `waiting_of` counts, for `waiting_name`.
WAITING = {
    "reviews": ngettext_lazy("annotator review", "annotator reviews", "n"),
    "suspended": ngettext_lazy("appeal against a suspension", "appeals against suspensions", "n"),
    "appeals": ngettext_lazy("appeal against refused pay", "appeals against refused pay", "n"),
    "unmatched": ngettext_lazy("unmatched submission", "unmatched submissions", "n"),
    "failed": ngettext_lazy("failed payment", "failed payments", "n"),
    "flags": ngettext_lazy("flagged question", "flagged questions", "n"),
    "unexamined": ngettext_lazy("answer that couldn't be checked", "answers that couldn't be checked", "n"),
    "discussions": ngettext_lazy("case without agreement", "cases without agreement", "n"),
    "cases": ngettext_lazy("case awaiting experts", "cases awaiting experts", "n"),
    "inspections": ngettext_lazy("spot check", "spot checks", "n"),
}
OF_ERRANDS = {"undoable": ErrandState.DUE, "failed": ErrandState.FAILED}
ELSEWHERE = ("cases", "inspections")  # with a page of their own
NOT_ASKED = ("undoable",)  # decided, and can still be undone


def waiting_name(what: str, count: int) -> str:
    """Return the text for a kind of decision and its count."""
    return WAITING[what] % {"n": count}


def waiting_of(campaign: Campaign) -> dict[str, int]:
    """Return the number of pending decisions of each kind. Use it in jobs, since it counts rows."""
    counts = {what: rows.count() for what, rows in _queues(campaign).items()}
    return {what: count for what, count in counts.items() if count and what not in NOT_ASKED}


def decisions_of(campaign: Campaign) -> dict[str, Any]:
    """Return the pending decisions: each list has at most fifty, oldest first."""
    queues = _queues(campaign)
    lists = {what: list(rows[:MOST]) for what, rows in queues.items() if what not in (*ELSEWHERE, *OF_ERRANDS)}
    lists |= _errands_of(queues)
    about = {row: _person_of(row) for what in OF_PEOPLE for row in lists[what]}
    names = names_of(list(about.values()))
    named = {what: [(row, names.get(about[row], "")) for row in lists[what]] for what in OF_PEOPLE}
    return {**lists, **named, "is_empty": not any(lists.values())}


def elsewhere_of(campaign: Campaign) -> dict[str, Exists]:
    """Return, for each kind with a separate page, the condition that a decision is pending, for use in a query."""
    queues = _queues(campaign)
    return {f"has_{what}": Exists(queues[what]) for what in ELSEWHERE}


def _queues(campaign: Campaign) -> dict[str, QuerySet[Any]]:
    """Return the pending decisions of each kind, in the order in which they should be decided."""
    errands = Errand.objects.filter(workforce__campaign=campaign)
    reviews = Review.objects.filter(campaign=campaign)
    places = Participation.objects.filter(campaign=campaign, surrogate=OuterRef("surrogate"))
    standing = Subquery(places.values("standing")[:1])
    appealed = reviews.filter(state=ReviewState.SUSPENDED, appealed_at__isnull=False, appeal_decided_at=None)
    appeals = Appeal.objects.filter(campaign=campaign, state=AppealState.OPEN).select_related("ticket")
    unexamined = Unexamined.objects.filter(campaign=campaign).select_related("annotation__item")
    undoable = errands.filter(state=ErrandState.DUE, decided_by__isnull=False, surrogate__isnull=False)
    return {
        "reviews": reviews.filter(state=ReviewState.OPEN).annotate(standing=standing).order_by("decide_by", "pk"),
        "suspended": appealed.order_by("appealed_at", "pk"),
        "appeals": appeals.order_by("pk"),
        "unmatched": _unmatched(campaign, errands).order_by("submitted_at", "pk"),
        "undoable": undoable,
        "failed": errands.filter(state=ErrandState.FAILED),
        "discussions": discussions_overdue(campaign, timezone.now()).select_related("item", "campaign"),
        "flags": Flag.objects.filter(campaign=campaign, is_listed=None).order_by("pk"),
        "unexamined": unexamined.order_by("since", "pk"),
        "cases": Case.objects.filter(unsealed(), campaign=campaign, state=CaseState.OPEN).order_by("pk"),
        "inspections": Inspection.objects.filter(unsealed("annotation__item"), campaign=campaign, verdict="").order_by(
            "pk"
        ),
    }


def _errands_of(queues: dict[str, QuerySet[Any]]) -> dict[str, list[Errand]]:
    """Return the pending errands, fifty of each kind, read in one statement."""
    place = Window(RowNumber(), partition_by="state", order_by=["due_at", "pk"])
    rows = (
        (queues["undoable"] | queues["failed"]).annotate(place=place).filter(place__lte=MOST).order_by("due_at", "pk")
    )
    found = list(rows)
    return {what: [row for row in found if row.state == state] for what, state in OF_ERRANDS.items()}


def _unmatched(campaign: Campaign, errands: QuerySet[Errand]) -> QuerySet[Ticket]:
    """Return submissions without matching work, or paid despite a problem, whose rejection isn't already due."""
    tickets = Ticket.objects.filter(workforce__campaign=campaign)
    doubtful = tickets.filter(Q(state=TicketState.UNMATCHED) | Q(state=TicketState.APPROVED, problem__gt=""))
    refused = errands.filter(
        ticket=OuterRef("pk"), kind=ErrandKind.REJECT, state__in=[ErrandState.DUE, ErrandState.SENDING]
    )
    return doubtful.exclude(Exists(refused))


def _person_of(row: Any) -> Any:
    """Return the surrogate id of the person that a pending decision is about."""
    return row.ticket.surrogate_id if isinstance(row, Appeal) else row.surrogate_id
