"""Comparison of our ledger with Prolific's lists, submission by submission and cent by cent."""

from django.db.models import Sum

from workforces.kinds.base import Reconciliation
from workforces.kinds.prolific.client import FINISHED, PAID, REJECTED, Prolific, RemoteSubmission
from workforces.kinds.prolific.connection import prolific
from workforces.models import LedgerEntry, Posting, Ticket, TicketState, Workforce
from workforces.services.terms import posting_terms


def reconcile(*, workforce: Workforce) -> Reconciliation:
    """Read every submission of every study and compare it with the ledger. Changes nothing."""
    client, found = prolific(), Reconciliation()
    totals = LedgerEntry.objects.filter(workforce=workforce)
    found.rewards_ours = _sum(totals.filter(kind="reward"), "cents")
    found.bonuses_ours = _sum(totals.filter(kind="bonus"), "cents")
    found.fees_ours = _sum(totals, "fee_cents")
    for posting in workforce.postings.exclude(hit_id="").select_related("workforce").order_by("number"):
        found.hits += 1
        tickets = _tickets(posting)
        reward = posting_terms(posting).reward_cents
        for remotes in client.submissions(posting.hit_id):
            for remote in remotes:
                found.assignments += 1
                found.rewards_theirs += reward if remote.status in PAID else 0
                ticket = tickets.get((remote.remote_id, remote.worker)) or tickets.get((remote.remote_id, ""))
                _compare(found, ticket, remote)
                if remote.status in (*PAID, FINISHED, REJECTED):
                    _compare_bonuses(found, client, posting, remote)
    if found.rewards_ours != found.rewards_theirs:
        found.differences.append(f"rewards of {found.rewards_theirs} cents there, {found.rewards_ours} here")
    return found


def _tickets(posting: Posting) -> dict[tuple[str, str], Ticket]:
    """Return a study's tickets by submission and person; those of erased people by submission alone."""
    found = {}
    for ticket in posting.tickets.select_related("surrogate__external", "surrogate__claimed").order_by("pk"):
        person = getattr(ticket.surrogate, "external", None)
        if person is not None or getattr(ticket.surrogate, "claimed", None) is None:
            found[ticket.remote_id, person.name if person else ""] = ticket
    return found


def _compare(found: Reconciliation, ticket: Ticket | None, remote: RemoteSubmission) -> None:
    decided = {**dict.fromkeys(PAID, TicketState.APPROVED), REJECTED: TicketState.REFUSED}
    if ticket is None:
        if remote.status in (FINISHED, *PAID):
            found.differences.append(f"submission {remote.remote_id} is not known here")
    elif remote.status in decided and ticket.state != decided[remote.status]:
        found.differences.append(f"submission {remote.remote_id}: {remote.status} there, {ticket.state} here")
    elif remote.status == FINISHED and ticket.state in (TicketState.APPROVED, TicketState.REFUSED):
        found.differences.append(f"submission {remote.remote_id}: undecided there, {ticket.state} here")


def _compare_bonuses(found: Reconciliation, client: Prolific, posting: Posting, remote: RemoteSubmission) -> None:
    there = sum(map(int, (client.submission(remote.remote_id) or {}).get("bonus_payments") or []))
    entries = LedgerEntry.objects.filter(ticket__posting=posting, ticket__remote_id=remote.remote_id, kind="bonus")
    here = _sum(entries, "cents")
    found.bonuses_theirs += there
    if there != here:
        found.differences.append(f"submission {remote.remote_id}: bonuses of {there} cents there, {here} here")


def _sum(rows: object, name: str) -> int:
    return int(rows.aggregate(total=Sum(name))["total"] or 0)  # type: ignore[attr-defined]
