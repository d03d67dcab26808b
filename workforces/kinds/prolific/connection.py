"""The connection to Prolific configured in this installation."""

from collections.abc import Iterator

from django.conf import settings

from database.transactions import refuse_transaction
from workforces.kinds.base import NotConfigured, Refused, Unreachable
from workforces.kinds.prolific.client import Endpoint, Prolific

EVENTS = ("submission.status.change", "study.status.change")
CURRENCY = "USD"  # our cents are US cents


def is_configured() -> bool:
    """Return whether this installation has an account on Prolific."""
    return bool(settings.PROLIFIC_TOKEN and settings.PROLIFIC_PROJECT and settings.PROLIFIC_WORKSPACE)


def prolific() -> Prolific:
    """Return a client for the configured account.

    Raises
    ------
    NotConfigured
    """
    if not is_configured():
        raise NotConfigured("set PROLIFIC_TOKEN, PROLIFIC_PROJECT and PROLIFIC_WORKSPACE")
    endpoint = Endpoint(
        settings.PROLIFIC_API_URL, settings.PROLIFIC_TOKEN, settings.PROLIFIC_PROJECT, settings.PROLIFIC_WORKSPACE
    )
    return Prolific(endpoint, refuse_transaction)


def faults() -> Iterator[tuple[str, str]]:
    """Ask Prolific for the balance, if an account is set; yield what is wrong, with its remedy."""
    if not is_configured():
        return
    try:
        currency, cents = prolific().balance()
    except Refused as error:
        yield f"Prolific refuses our requests: {error}", "check PROLIFIC_TOKEN, PROLIFIC_PROJECT and PROLIFIC_WORKSPACE"
    except Unreachable as error:
        yield f"Prolific doesn't respond: {error}", "check the network and PROLIFIC_API_URL"
    else:
        if currency != CURRENCY:
            yield (
                f"the account on Prolific is in {currency}",
                f"use a workspace in {CURRENCY}: Quorate counts in its cents",
            )
        elif cents <= 0:
            yield "the account on Prolific has no money left", "add funds there"


def hooks(*, subscribe: bool) -> str:
    """Create the secret of Prolific's notifications, or subscribe to them; return what to print.

    Raises
    ------
    NotConfigured, Refused, Unreachable
    """
    url = f"{settings.PLATFORM_URL}/hooks/prolific/"
    if not subscribe:
        return f"PROLIFIC_HOOK_SECRET={prolific().hook_secret()}"
    if not settings.PROLIFIC_HOOK_SECRET:
        raise NotConfigured("set PROLIFIC_HOOK_SECRET first: run this without --subscribe to get it")
    if not url.startswith("https://"):
        raise NotConfigured(f"Prolific notifies public https addresses only; PLATFORM_URL is {settings.PLATFORM_URL}")
    for event in EVENTS:
        prolific().hook_subscribe(event, url)
    return f"Prolific notifies {url}"
