"""Messages to annotators about their work: by email, through the marketplace, or on their statement."""

from datetime import datetime
from uuid import UUID

from annotation.models import Campaign
from database.transactions import require_transaction
from workforces.kinds.registry import KINDS
from workforces.models import Errand, Ticket

MOST_TICKETS = 50  # of a person that are looked through for a way to write to them


def person_message(*, campaign: Campaign, surrogate_id: UUID, text: str, token: str, now: datetime) -> Errand | None:
    """Send a message to a person through their marketplace, once per token; None for people of other workforces.

    People of a panel read messages on their statement, because a panel can't deliver messages.
    """
    require_transaction()
    own = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=surrogate_id)
    for ticket in own.select_related("workforce").order_by("-pk")[:MOST_TICKETS]:
        kind = KINDS[ticket.workforce.kind]
        said: Errand | None = kind.notify(
            workforce=ticket.workforce, surrogate_id=surrogate_id, text=text, token=token, now=now
        )
        if said is not None:
            return said
    return None
