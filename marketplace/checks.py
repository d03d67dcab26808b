"""Checks that run before the marketplace starts."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from marketplace.api.operations import OPERATIONS
from marketplace.protocol.fees import RULES
from marketplace.protocol.service import operation_names


@register
def operations_are_complete(**_options: Any) -> list[CheckMessage]:
    """Check that every operation of the service model has a handler, and every handler an operation."""
    if sorted(OPERATIONS) == operation_names():
        return []
    return [Error("the operations and the service model differ", id="marketplace.E001")]


@register
def fee_rules_are_known(**_options: Any) -> list[CheckMessage]:
    """Check that MARKETPLACE_FEES names known fee rules."""
    if settings.MARKETPLACE_FEES in RULES:
        return []
    return [Error(f"MARKETPLACE_FEES must be one of {', '.join(RULES)}", id="marketplace.E002")]
