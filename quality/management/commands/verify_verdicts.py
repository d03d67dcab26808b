"""``manage.py verify_verdicts``: recompute every label of a campaign, and compare it with the stored label."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from quality.labels.selectors.recomputed import verdicts_recomputed
from storage.json_output import json_line


class Command(BaseCommand):
    """Recompute the label of each verdict from the inputs that the verdict names."""

    help = (
        "Recompute the label of every verdict of a campaign, including superseded verdicts. Each label is "
        "computed from the annotations, rule, and policy that the verdict records. The command fails if any label"
        " differs. Example: manage.py verify_verdicts relevance"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="CAMPAIGN", help="the short name of the campaign")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Recompute the labels, print the result, and fail if anything differs."""
        campaign = campaign_named(options["campaign"])
        if not isinstance(TASK_TYPES[campaign.task_type], Voted):
            raise CommandError(f"{campaign.slug} has no verdicts, because its task type doesn't use votes")
        verdicts, different = 0, []
        for found in verdicts_recomputed(campaign):
            verdicts += 1
            if not found.agrees:
                row = found.verdict
                different.append({"item": row.item.external_id, "label": row.label, "recomputed": found.label})
        if options["json"]:
            self.stdout.write(json_line({"verdicts": verdicts, "different": different}))
        else:
            for one in different:
                self.stdout.write(f"{one['item']}: stored {one['label']}, recomputed {one['recomputed']}")
            self.stdout.write(f"{verdicts:,} verdicts recomputed, {len(different):,} differ")
        if different:
            raise CommandError(f"{len(different):,} of {verdicts:,} stored labels differ from the recomputed labels")
