"""Comparison of our ledger with the marketplace's lists, assignment by assignment and cent by cent."""

from typing import Any

from django.db.models import Sum

from workforces.kinds.base import Reconciliation
from workforces.kinds.mturk.connection import market
from workforces.models import LedgerEntry, Posting, Ticket, TicketState, Workforce

STATUS = {"Approved": TicketState.APPROVED, "Rejected": TicketState.REFUSED}


def reconcile(*, workforce: Workforce) -> Reconciliation:
    """Read every posting at the marketplace and compare it with the ledger. Changes nothing."""
    client, found = market(), Reconciliation()
    totals = LedgerEntry.objects.filter(workforce=workforce)
    found.rewards_ours = _sum(totals.filter(kind="reward"), "cents")
    found.bonuses_ours = _sum(totals.filter(kind="bonus"), "cents")
    found.fees_ours = _sum(totals, "fee_cents")
    ours = {posting.hit_id: posting for posting in workforce.postings.exclude(hit_id="").order_by("number")}
    listed = (hit for hit in client.hits() if hit.note.startswith(workforce.campaign_id.hex))
    rewards = {hit.hit_id: hit.reward_cents for hit in listed}
    found.hits = len(rewards)
    found.differences += [f"HIT {hit_id} is not known here" for hit_id in sorted({*rewards} - {*ours})]
    found.differences += [f"HIT {hit_id} is not known there" for hit_id in sorted({*ours} - {*rewards})]
    for posting in (posting for hit_id, posting in ours.items() if hit_id in rewards):
        known, erased = _tickets(posting)
        reward = rewards[posting.hit_id]
        for remote in client.assignments(posting.hit_id):
            found.assignments += 1
            found.rewards_theirs += reward if remote.status == "Approved" else 0
            ticket = known.get((remote.remote_id, remote.worker)) or erased.get(remote.remote_id)
            _compare(found, ticket, remote)
        paid: dict[str, int] = {}
        for remote_id, cents, _ in client.bonuses(hit_id=posting.hit_id):
            paid[remote_id] = paid.get(remote_id, 0) + cents
        found.bonuses_theirs += sum(paid.values())
        _compare_bonuses(found, posting.tickets.all(), paid)
    if found.rewards_ours != found.rewards_theirs:
        found.differences.append(f"rewards of {found.rewards_theirs} cents there, {found.rewards_ours} here")
    return found


def _tickets(posting: Posting) -> tuple[dict[tuple[str, str], Ticket], dict[str, Ticket]]:
    """Return a posting's tickets by assignment and worker; tickets of erased people by assignment alone."""
    known: dict[tuple[str, str], Ticket] = {}
    erased: dict[str, Ticket] = {}
    for ticket in posting.tickets.select_related("surrogate__external").order_by("pk"):
        person = getattr(ticket.surrogate, "external", None)
        if person is not None:
            known[ticket.remote_id, person.name] = ticket
        else:
            erased[ticket.remote_id] = ticket
    return known, erased


def _compare(found: Reconciliation, ticket: Ticket | None, remote: Any) -> None:
    if ticket is None:
        found.differences.append(f"assignment {remote.remote_id} is not known here")
    elif remote.status != "Submitted" and ticket.state != STATUS[remote.status]:
        found.differences.append(f"assignment {remote.remote_id}: {remote.status} there, {ticket.state} here")
    elif remote.status == "Submitted" and ticket.state in (TicketState.APPROVED, TicketState.REFUSED):
        found.differences.append(f"assignment {remote.remote_id}: undecided there, {ticket.state} here")


def _compare_bonuses(found: Reconciliation, tickets: Any, paid: dict[str, int]) -> None:
    ours = {
        row["ticket__remote_id"]: row["cents"]
        for row in LedgerEntry.objects.filter(ticket__in=tickets, kind="bonus")
        .values("ticket__remote_id")
        .annotate(cents=Sum("cents"))
        .order_by("ticket__remote_id")
    }
    for remote_id in sorted({*ours, *paid}):
        if ours.get(remote_id, 0) != paid.get(remote_id, 0):
            found.differences.append(
                f"assignment {remote_id}: bonuses of {paid.get(remote_id, 0)} cents there, {ours.get(remote_id, 0)} here"
            )


def _sum(rows: Any, name: str) -> int:
    return int(rows.aggregate(total=Sum(name))["total"] or 0)
