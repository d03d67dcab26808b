"""The secret address of a person's statement: their work, its pay, appeals, and leaving.

The address belongs to a ticket, works only once the ticket's person is known, and expires; see `SECURITY.md`.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature, SignatureExpired
from django.utils.translation import gettext as _

from database.transactions import durable
from workforces.models import Ticket
from workforces.services.identities import is_person_known
from workforces.services.messages import person_message

SALT = "quorate.statement"
LIFETIME = timedelta(days=30)


class StatementOver(Exception):
    """The address of a statement has expired; its ticket is ``ticket``."""

    def __init__(self, ticket: Ticket) -> None:
        super().__init__("this address has expired")
        self.ticket = ticket


class NoStatement(Exception):
    """An address belongs to no statement."""


def statement_path(ticket: Ticket) -> str:
    """Return the address where a person sees their work and pay, and can appeal or withdraw consent."""
    return f"/statement/{signing.dumps(ticket.pk, salt=SALT)}/"


def statement_ticket(token: str) -> Ticket:
    """Return the ticket of an address.

    Raises
    ------
    NoStatement
        The address is wrong, or the ticket's person is unknown.
    StatementOver
    """
    try:
        pk, is_over = signing.loads(token, salt=SALT, max_age=LIFETIME), False
    except SignatureExpired:
        pk, is_over = signing.loads(token, salt=SALT), True
    except BadSignature as error:
        raise NoStatement from error
    ticket = Ticket.objects.select_related("workforce__campaign").filter(pk=pk).first()
    if ticket is None or not is_person_known(ticket.surrogate_id):
        raise NoStatement
    if is_over:
        raise StatementOver(ticket)
    return ticket


@durable
def statement_send(*, ticket: Ticket, now: datetime) -> bool:
    """Send a person from a marketplace a new address, at most once an hour; return False for people of a panel."""
    text = _("Your work and pay: %(address)s") % {"address": settings.PLATFORM_URL + statement_path(ticket)}
    message = person_message(
        campaign=ticket.workforce.campaign,
        surrogate_id=ticket.surrogate_id,
        text=text,
        now=now,
        token=f"statement-{ticket.pk}-{now:%Y%m%d%H}",
    )
    return message is not None
