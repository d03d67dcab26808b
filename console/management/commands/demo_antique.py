"""``manage.py demo_antique``: the whole ANTIQUE process with a synthetic crowd, over the real protocol."""

from typing import Any

from django.core.management.base import CommandParser

from console.demo.antique import run
from console.demo.stage import Plan
from console.management.processes import ProcessCommand
from console.terminals import Say


class Command(ProcessCommand):
    """Run the process from candidate pairs to reconciled books."""

    help = (
        "Start a marketplace and a platform, post the demo's pairs as HITs, let a seeded synthetic crowd of twelve "
        "(two of them careless) label them over HTTP, decide as manager and expert, pay, and compare the books. Far "
        "more gold than usual, so that honest rules can decide on few items. The campaign stays for looking at."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        parser.add_argument(
            "--unanimous",
            action="store_true",
            dest="is_unanimous",
            help="a crowd without slips: every run has the same verdicts",
        )

    def process(self, plan: Plan, say: Say) -> dict[str, Any]:
        """Run it."""
        return run(plan, say)

    def rows(self, result: dict[str, Any]) -> list[tuple[str, Any]]:
        """Return the paper's Table 1 and what stands beside it."""
        summary, books = result["summary"], result["books"]
        judgments = summary["judgments"] or 1
        return [
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
