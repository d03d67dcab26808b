"""The connection to the marketplace configured in this installation."""

from collections.abc import Iterator

from django.conf import settings

from database.transactions import refuse_transaction
from workforces.kinds.base import NotConfigured, Refused, Unreachable
from workforces.kinds.mturk.client import Endpoint, Market


def market() -> Market:
    """Return a client for the configured marketplace.

    Raises
    ------
    NotConfigured
    """
    if not settings.MTURK_ENDPOINT_URL or not settings.MTURK_ACCESS_KEY_ID:
        raise NotConfigured("set MTURK_ENDPOINT_URL, MTURK_ACCESS_KEY_ID and MTURK_SECRET_ACCESS_KEY")
    return Market(
        Endpoint(
            settings.MTURK_ENDPOINT_URL,
            settings.MTURK_ACCESS_KEY_ID,
            settings.MTURK_SECRET_ACCESS_KEY,
            settings.MTURK_REQUESTS_PER_SECOND,
        ),
        refuse_transaction,
    )


def faults() -> Iterator[tuple[str, str]]:
    """Ask the configured marketplace, if there is one, for the balance; yield the problem and its remedy."""
    if not settings.MTURK_ENDPOINT_URL:
        return
    try:
        market().balance()
    except (NotConfigured, Refused, Unreachable) as error:
        keys = "MTURK_ENDPOINT_URL, MTURK_ACCESS_KEY_ID, and MTURK_SECRET_ACCESS_KEY"
        remedy = f"Compare {keys} with what marketplace_requester printed."
        yield f"the marketplace at {settings.MTURK_ENDPOINT_URL}: {error}", remedy
