"""``manage.py evaluate``: score predictions."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from evaluation.command import DESCRIPTION, add_arguments, evaluate
from evaluation.files import EvaluationError


class Command(ReadingCommand):
    """Score what a system predicted."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of each kind of dataset."""
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, score, print."""
        try:
            self.stdout.write(evaluate(options))
        except EvaluationError as error:
            raise CommandError(str(error)) from error
