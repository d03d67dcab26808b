"""Messages to annotators about their work: by email, through the marketplace, or on their statement."""

from datetime import datetime
from uuid import UUID

from annotation.models import Campaign
from database.transactions import require_transaction
from workforces.kinds.registry import KINDS
from workforces.models import Errand, Ticket

MOST_TICKETS = 50  # of a person that are looked through for a way to write to them


def person_message(*, campaign: Campaign, surrogate_id: UUID, text: str, token: str, now: datetime) -> Errand | None:
    """Write to a person by the marketplace they came from, once for each token; None for people of other workforces.

    People of a panel read on their statement what there is to know; a panel offers no way to write to them.
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
