"""``manage.py serve``: web and worker with one command and no broker."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.serving import add_serving_arguments, listener_at, listener_from, prepare, serve


class Command(BaseCommand):
    """Migrate, then run web and worker until stopped."""

    help = (
        "Run the web server and a worker on this machine, and restart either of them if it stops unexpectedly. "
        "Example: manage.py serve --bind 127.0.0.1:8000"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        add_serving_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and serve."""
        prepare(call_command)
        try:
            listener = listener_at(options["bind"]) if options["bind"] else listener_from(8000)
            serve(listener=listener, ready=lambda address: self.stdout.write(f"Quorate is running at {address}"))
        except OSError as error:
            raise CommandError(str(error)) from error
