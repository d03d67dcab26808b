"""``manage.py create_campaign``: begin a campaign from the command line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.models import Campaign
from annotation.tasktypes.registry import TASK_TYPES
from jobs.terminal import prepare_database, print_result


class Command(BaseCommand):
    """Create a campaign; guidelines and consent can be changed on its pages."""

    help = (
        "Create a campaign with its splits. Each --split is a name, annotations per item, and optionally its share of "
        'the items. Example: manage.py create_campaign earth --title "The earth" --split "train 1 8" --split "dev 5 1"'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("slug", metavar="SLUG", help="short name of the campaign, used in its web addresses")
        parser.add_argument("--title", required=True, help="title shown on the campaign's pages")
        parser.add_argument(
            "--split",
            action="append",
            required=True,
            metavar='"NAME N [SHARE]"',
            help='split as "NAME N SHARE": name, annotations per item, and relative share of the items (optional); repeatable',
        )
        parser.add_argument(
            "--task-type", default="nq", choices=list(TASK_TYPES), help="type of annotation task (default nq)"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed for splits, item order, and ids (default 0)")
        parser.add_argument(
            "--purpose", default="Building a question answering dataset.", help="shown in the consent text"
        )
        parser.add_argument("--contact", default="the administrator", help="shown in the consent text")
        parser.add_argument(
            "--no-training", action="store_true", help="skip the training round of task types that have one"
        )
        parser.add_argument(
            "--no-behavior",
            "--no-behaviour",  # of version 0.2.0
            dest="no_behavior",
            action="store_true",
            help="don't compare how annotators work, and leave this out of the consent text",
        )
        parser.add_argument("--language", default="en", help="language of the documents (default en)")
        parser.add_argument(
            "--without",
            action="append",
            default=[],
            metavar="OPTION",
            help="turn off an option of the task type (kbqa and dbqa: review, recovery, paste); repeatable",
        )
        parser.add_argument(
            "--manager", metavar="EMAIL", help="email address of the campaign's manager, who must have an account"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it."""
        prepare_database()
        if Campaign.objects.filter(slug=options["slug"]).exists():
            raise CommandError(f"a campaign with the short name {options['slug']!r} already exists")
        manager = None
        if options["manager"]:
            manager = User.objects.filter(email__iexact=options["manager"].strip()).first()
            if manager is None:
                raise CommandError(f"no account has the email address {options['manager']}")
        try:
            campaign = campaign_create(
                slug=options["slug"],
                title=options["title"],
                task_type=options["task_type"],
                seed=options["seed"],
                group_by=TASK_TYPES[options["task_type"]].keeps_together,
                has_training=bool(TASK_TYPES[options["task_type"]].training) and not options["no_training"],
                language=options["language"],
                options=dict.fromkeys(options["without"], False),
                splits=[self._split(text) for text in options["split"]],
                created_by=manager,
                now=timezone.now(),
                consent=NewConsent(
                    options["purpose"],
                    "Answers and the time they take.",
                    options["contact"],
                    tells_behaviour=not options["no_behavior"],
                ),
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        print_result(
            self.stdout,
            {"campaign": campaign.slug},
            as_json=options["json"],
            summary=f"campaign {campaign.slug} created",
        )

    def _split(self, text: str) -> NewSplit:
        name, *numbers = text.split() or [""]
        if len(numbers) not in (1, 2) or not all(number.isdecimal() for number in numbers) or int(numbers[0]) < 1:
            raise CommandError(f"--split {text!r}: expected a name, annotations per item, and optionally a share")
        return NewSplit(name, *map(int, numbers))
