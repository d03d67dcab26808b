"""The base of commands that read untrusted files."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.memory import OutOfMemory, add_memory_argument, memory_limited


class ReadingCommand(BaseCommand):
    """A command that takes no more memory than allowed, however large its files are when unpacked."""

    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Add ``--memory`` to the arguments."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        add_memory_argument(parser)
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run within the limit."""
        try:
            with memory_limited(options["memory"]):
                return super().execute(*args, **options)
        except OutOfMemory as error:
            raise CommandError(str(error)) from None
