"""Messages to people who have no account here: through the marketplace, or on their statement."""

from datetime import datetime
from uuid import UUID

from annotation.models import Campaign
from database.transactions import require_transaction
from workforces.models import Errand, ErrandKind, Ticket, WorkforceKind
from workforces.services.outbox import errand_add


def person_message(*, campaign: Campaign, surrogate_id: UUID, text: str, token: str, now: datetime) -> Errand | None:
    """Write to a person by the marketplace they came from, once for each token; None for people of other workforces.

    People of a panel read on their statement what there is to know; a panel offers no way to write to them.
    """
    require_transaction()
    tickets = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=surrogate_id)
    last = tickets.filter(workforce__kind=WorkforceKind.MTURK).select_related("workforce").order_by("-pk").first()
    if last is None:
        return None
    return errand_add(
        workforce=last.workforce,
        kind=ErrandKind.NOTIFY,
        surrogate_id=surrogate_id,
        text=text[:900],
        due_at=now,
        token=f"notify-{last.workforce_id}-{token}",
    )
