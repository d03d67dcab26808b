"""``manage.py demo_target``: votes where the doubt is, with a synthetic crowd, over the real protocol."""

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.demo.stage import Plan, Stuck
from console.demo.target import run
from console.serving import prepare


class Command(BaseCommand):
    """Run the process from first votes to a measured error."""

    help = (
        "Start a marketplace and a platform, post the demo's pairs as HITs, and buy votes where labels are doubtful until five "
        "of a thousand are expected to be wrong: a first budget that is spent, waves, experts for the rest, an audit that says "
        "how much to believe the model, one that measures what came of it. The campaign stays for looking at."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--seed", type=int, default=2020)
        parser.add_argument("--pairs", type=int, default=40, help="35 to 64 (default 40): an audit takes thirty labels")
        parser.add_argument("--kills", type=int, default=0, help="kill the job worker once in so many phases")
        parser.add_argument("--seconds", type=int, default=900, help="give up after so long (default 900)")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, print, and fail if the books differ."""
        if not 35 <= options["pairs"] <= 64:
            raise CommandError("--pairs takes 35 to 64")
        prepare(call_command)
        plan = Plan(options["seed"], options["pairs"], options["kills"], seconds=options["seconds"])
        try:
            result = run(plan, self.stderr.write)
        except Stuck as error:
            raise CommandError(f"the run did not come to its end: {error}") from error
        self.stdout.write(json.dumps(result, indent=2) if options["json"] else table(result))
        if result["books"]["differences"]:
            raise CommandError("the books differ")


def table(result: dict[str, Any]) -> str:
    """Return the result as a table."""
    error = result["label_error"]
    rows = [
        ("stopped by", ", then ".join(result["stops"])),
        ("waves", result["waves"]),
        ("votes bought", result["votes_bought"]),
        ("pairs that experts decided", result["cases"]),
        ("spent beyond the first votes", f"${result['spent_cents'] / 100:.2f}"),
        ("expected to be wrong", f"{result['predicted']:.1%}"),
        (
            "measured",
            f"{error['share']:.1%} (95 % {error['low']:.1%} to {error['high']:.1%}) of {error['judged']} judged",
        ),
        ("really wrong", f"{result['wrong']} of {result['labels']}"),
        ("differences in the books", len(result["books"]["differences"])),
    ]
    return "\n".join(f"{name:<30} {value}" for name, value in rows)
