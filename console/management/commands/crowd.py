"""``manage.py crowd``: bring a campaign to life with people who are made up."""

import secrets
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from annotation.models import Campaign, CampaignState, Slot, SlotState
from annotation.services.campaigns import AnsweredByPeople, campaign_mark_synthetic
from config.secrets import new_password
from console.synthetic import accounts
from simulation.any_world import AnyWorld
from simulation.browser import NotHere
from simulation.crowd import Crowd
from simulation.doors.market import Outcome
from simulation.doors.member import Member
from simulation.people import people_of

MOST_PEOPLE = 1_000


class Command(BaseCommand):
    """Let a synthetic crowd work in a campaign, over its pages."""

    help = (
        "Let a seeded synthetic crowd answer what is open in a campaign: they log in and work over the pages of a running "
        "platform, like people, but faster. The campaign is marked for good as answered by a synthetic crowd, on its pages "
        "and in its releases. Example: manage.py crowd demo --people 8"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG")
        parser.add_argument("--people", type=int, default=8)
        parser.add_argument("--spam", type=float, default=0.1, help="share of work by people who do not read (default 0.1)")  # fmt: skip
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--seconds", type=float, default=120, help="at most (default 120)")
        parser.add_argument(
            "--url", default="", help=f"of the platform, on this machine (default {settings.PLATFORM_URL})"
        )
        parser.add_argument(
            "--mixed", action="store_true", help="also where people have answered: their work is marked too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Mark, make accounts, let them work."""
        campaign = campaign_named(options["campaign"])
        if not 1 <= options["people"] <= MOST_PEOPLE:
            raise CommandError(f"--people takes 1 to {MOST_PEOPLE:,}")
        if campaign.state != CampaignState.OPEN:
            raise CommandError(f"{campaign.slug} is {campaign.get_state_display().lower()}: nothing is handed out")
        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"  # a synthetic crowd has no mailboxes
        try:
            campaign_mark_synthetic(campaign=campaign, mixed=options["mixed"], actor_id=None, now=timezone.now())
        except AnsweredByPeople as error:
            raise CommandError(f"{error} --mixed does it all the same") from error
        members = _members(campaign, options)
        crowd, waiting = Crowd(members, seed=options["seed"], threads=4), self._waiting(campaign)
        began = time.monotonic()
        try:
            crowd.run(lambda: not waiting.exists(), seconds=options["seconds"])
        except NotHere as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['url'] or settings.PLATFORM_URL} does not answer: is the platform running? ({error})") from error  # fmt: skip
        answered = crowd.outcomes[Outcome.HANDED_IN]
        self.stdout.write(
            f"{answered:,} answers by {options['people']} people in {time.monotonic() - began:.0f} s "
            f"({crowd.days:.1f} days by their own clock); {waiting.count():,} are open"
        )

    def _waiting(self, campaign: Campaign) -> Any:
        return Slot.objects.filter(campaign=campaign, state__in=[SlotState.OPEN, SlotState.HELD])


def _members(campaign: Campaign, options: dict[str, Any]) -> list[Member]:
    name, password = f"{campaign.slug}-{secrets.token_hex(3)}", new_password()
    emails, world = accounts(campaign, name, options["people"], password), AnyWorld(options["seed"])
    people = people_of(world.model, options["people"], seed=options["seed"], spam=options["spam"])
    url = (options["url"] or settings.PLATFORM_URL).rstrip("/")
    return [
        Member(url, campaign.slug, email, password, person, world) for email, person in zip(emails, people, strict=True)
    ]
