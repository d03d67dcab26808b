"""Deliberate faults for developers of crowd software. Development only."""

from django.conf import settings
from django.db.models import F

from marketplace.models import Fault

ANY = "*"


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
    names = [operation] if operation == "Notification" else [operation, ANY]
    for fault in Fault.objects.filter(operation__in=names, remaining__gt=0).order_by("pk"):
        if Fault.objects.filter(pk=fault.pk, remaining__gt=0).update(remaining=F("remaining") - 1):
            return fault
    return None
