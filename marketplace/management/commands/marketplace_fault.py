"""``manage.py marketplace_fault``: cause faulty responses on purpose, for development."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.management.prepared import prepare
from marketplace.models import Fault
from marketplace.protocol.service import operation_names
from marketplace.services.faults import ANY, fault_add, faults_clear

_OF_NOTIFICATIONS = {"lose", "duplicate"}


class Command(BaseCommand):
    """Arm, list and clear faults."""

    help = (
        "Inject a fault into the next calls of an operation. '*' means all operations, and 'Notification' means "
        "messages to requesters (only with lose or duplicate). drop-before closes the connection before the "
        "operation runs; drop-after closes it after the result is committed. Without arguments, list the active "
        "faults. Needs MARKETPLACE_DEVELOPMENT=1. Example: manage.py marketplace_fault CreateHIT throttle --times"
        " 3"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "operation", nargs="?", default="", help="API operation that should fail, such as CreateHIT"
        )
        parser.add_argument("kind", nargs="?", choices=[kind.value for kind in Fault.Kind], help="kind of fault")
        parser.add_argument("--times", type=int, default=1, help="number of calls affected (default 1)")
        parser.add_argument(
            "--seconds", type=float, default=1.0, help="delay for the fault slow, in seconds (default 1, at most 60)"
        )
        parser.add_argument("--clear", action="store_true", help="remove all active faults")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the requested action and print the armed faults."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("marketplace_fault works only with MARKETPLACE_DEVELOPMENT=1")
        prepare()
        if options["clear"]:
            faults_clear()
        if options["operation"]:
            self._add(options)
        for fault in Fault.objects.filter(remaining__gt=0).order_by("pk"):
            self.stdout.write(str(fault))

    def _add(self, options: dict[str, Any]) -> None:
        operation, kind = options["operation"], options["kind"]
        if operation not in {*operation_names(), ANY, "Notification"}:
            raise CommandError(f"there is no operation {operation!r}")
        if kind is None:
            raise CommandError(
                f"the kind of fault is missing; add one of {', '.join(kind.value for kind in Fault.Kind)}"
            )
        if (kind in _OF_NOTIFICATIONS) is not (operation == "Notification"):
            raise CommandError(
                "lose and duplicate work only with Notification, and the other kinds only with operations"
            )
        fault_add(operation=operation, kind=kind, times=options["times"], seconds=options["seconds"])
