"""Deliberate faults for developers of crowd software. Development only."""

from django.conf import settings
from django.db.models import F, Q

from database.statements import Statement
from marketplace.models import Fault

ANY = "*"


_ARMED = Statement(
    lambda one, other: Fault.objects.filter(Q(operation=one) | Q(operation=other), remaining__gt=0).order_by("pk"),
    str,
    str,
)


def fault_add(*, operation: str, kind: str, times: int, seconds: float) -> Fault:
    """Arm a fault for the next ``times`` calls of an operation."""
    return Fault.objects.create(operation=operation, kind=Fault.Kind(kind), remaining=times, seconds=seconds)


def faults_clear() -> int:
    """Disarm all faults."""
    return Fault.objects.all().delete()[0]


def fault_take(operation: str) -> Fault | None:
    """Return the fault that applies to this call, and decrement its counter."""
    if not settings.MARKETPLACE_DEVELOPMENT:
        return None
    fault: Fault
    for fault in _ARMED.instances(operation, operation if operation == "Notification" else ANY):
        if Fault.objects.filter(pk=fault.pk, remaining__gt=0).update(remaining=F("remaining") - 1):
            return fault
    return None
