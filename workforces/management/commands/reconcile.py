"""``manage.py reconcile``: compare a campaign's ledger with the marketplace's."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named
from jobs.terminal import print_result
from workforces.kinds.base import NotConfigured
from workforces.kinds.registry import KINDS


class Command(BaseCommand):
    """Read every posting at the marketplace and compare it with the ledger."""

    help = (
        "Compare the states of assignments, rewards, and bonuses with the marketplace's records. The command "
        "changes nothing, and fails if anything differs. Example: manage.py reconcile relevance"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare and print."""
        campaign = campaign_named(options["campaign"])
        workforce = next((row for row in campaign.workforces.order_by("pk") if KINDS[row.kind].has_books), None)
        if workforce is None:
            raise CommandError(f"{campaign.slug} has no marketplace workforce; add one with manage.py add_workforce")
        try:
            found = KINDS[workforce.kind].reconcile(workforce=workforce)
        except NotConfigured as error:
            raise CommandError(str(error)) from error
        for difference in found.differences:
            self.stderr.write(difference)
        summary = (
            f"{found.assignments} assignments: rewards {found.rewards_ours / 100:.2f} here, "
            f"{found.rewards_theirs / 100:.2f} there; bonuses {found.bonuses_ours / 100:.2f} here, "
            f"{found.bonuses_theirs / 100:.2f} there; {len(found.differences)} differences"
        )
        print_result(self.stdout, asdict(found), as_json=options["json"], summary=summary)
        if not found.agrees:
            raise CommandError("the ledgers differ; see the differences listed above")
