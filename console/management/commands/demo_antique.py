"""``manage.py demo_antique``: the whole ANTIQUE process with a synthetic crowd, over the real protocol."""

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.demo.antique import run
from console.demo.stage import Plan, Stuck
from console.serving import prepare


class Command(BaseCommand):
    """Run the process from candidate pairs to reconciled books."""

    help = (
        "Start a marketplace and a platform, post the demo's pairs as HITs, let a seeded synthetic crowd of twelve "
        "(two of them careless) label them over HTTP, decide as manager and expert, pay, and compare the books. Far "
        "more gold than usual, so that honest rules can decide on few items. The campaign stays for looking at."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--seed", type=int, default=2020)
        parser.add_argument("--pairs", type=int, default=64, help="1 to 64 (default 64)")
        parser.add_argument("--kills", type=int, default=0, help="kill the job worker so often at seeded moments")
        parser.add_argument("--unanimous", action="store_true", help="a crowd without slips: every run has the same verdicts")  # fmt: skip
        parser.add_argument("--seconds", type=int, default=900, help="give up after so long (default 900)")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, print, and fail if the books differ."""
        if not 1 <= options["pairs"] <= 64:
            raise CommandError("--pairs takes 1 to 64")
        prepare(call_command)
        plan = Plan(options["seed"], options["pairs"], options["kills"], options["unanimous"], options["seconds"])
        try:
            result = run(plan, self.stderr.write)
        except Stuck as error:
            raise CommandError(f"the run did not come to its end: {error}") from error
        self.stdout.write(json.dumps(result, indent=2) if options["json"] else table(result))
        if result["books"]["differences"]:
            raise CommandError("the books differ")


def table(result: dict[str, Any]) -> str:
    """Return the result as the paper's Table 1 and what stands beside it."""
    summary, books = result["summary"], result["books"]
    judgments = summary["judgments"] or 1
    rows = [
        ("questions / pairs", f"{summary['questions']} / {summary['pairs']}"),
        *((f"label {label}", str(count)) for label, count in summary["labels"].items()),
        ("workers", summary["workers"]),
        ("judgments", summary["judgments"]),
        ("excluded but paid", f"{summary['excluded_paid']} ({100 * summary['excluded_paid'] / judgments:.1f} %)"),
        ("refused", f"{summary['refused']} ({100 * summary['refused'] / judgments:.1f} %)"),
        ("no agreement in round one", f"{summary['no_agreement_first']} pairs"),
        ("by an expert", f"{summary['rules']['expert']} pairs"),
        ("gold checks missed", f"{summary['gold_misses']} of {summary['gold_checks']} (share {result['gold_share']:.0%} after the first items)"),
        ("suspended", summary["suspended"]),
        ("HITs", result["postings"]),
        ("rewards, ours / theirs", f"${books['rewards_ours'] / 100:.2f} / ${books['rewards_theirs'] / 100:.2f}"),
        ("bonuses, ours / theirs", f"${books['bonuses_ours'] / 100:.2f} / ${books['bonuses_theirs'] / 100:.2f}"),
        ("fees, ours / theirs", f"${books['fees_ours'] / 100:.2f} / ${books['account']['fees'] / 100:.2f}"),
        ("differences", len(books["differences"])),
    ]  # fmt: skip
    return "\n".join(f"{name:<28} {value}" for name, value in rows)
