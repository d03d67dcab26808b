"""What the commands have in common that run a whole process with a synthetic crowd."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.demo.stage import Plan
from console.serving import prepare
from console.settling import Stuck
from console.terminals import Say

MOST_PAIRS = 64  # there are no more in the demo


class ProcessCommand(BaseCommand):
    """Run a process, print what it came to, and fail if our books and the marketplace's differ."""

    pairs, least_pairs = MOST_PAIRS, 1
    kills = "kill the job worker so often at seeded moments"

    @abstractmethod
    def process(self, plan: Plan, say: Say) -> dict[str, Any]:
        """Run it; the result has ``books``."""

    @abstractmethod
    def rows(self, result: dict[str, Any]) -> Sequence[tuple[str, Any]]:
        """Return the lines of the table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--seed", type=int, default=2020)
        pairs = f"{self.least_pairs} to {MOST_PAIRS} (default {self.pairs})"
        parser.add_argument("--pairs", type=int, default=self.pairs, help=pairs)
        parser.add_argument("--kills", type=int, default=0, help=self.kills)
        parser.add_argument("--seconds", type=int, default=900, help="give up after so long (default 900)")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, print, and fail if the books differ."""
        if not self.least_pairs <= options["pairs"] <= MOST_PAIRS:
            raise CommandError(f"--pairs takes {self.least_pairs} to {MOST_PAIRS}")
        prepare(call_command)
        plan = Plan(
            **{name: options[name] for name in ("seed", "pairs", "kills", "is_unanimous", "seconds") if name in options}
        )
        try:
            result = self.process(plan, self.stderr.write)
        except Stuck as error:
            raise CommandError(f"the run did not come to its end: {error}") from error
        table = "\n".join(f"{name:<30} {value}" for name, value in self.rows(result))
        self.stdout.write(json.dumps(result, indent=2) if options["json"] else table)
        if result["books"]["differences"]:
            raise CommandError("the books differ")
