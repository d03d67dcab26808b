"""``manage.py crowd``: have made-up people work in a campaign."""

import secrets
import threading
import time
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from annotation.campaigns.services.campaigns import AnsweredByPeople, campaign_check_unanswered, campaign_mark_synthetic
from annotation.management.campaigns import campaign_named
from annotation.models import Annotation, AnnotationState, Campaign, CampaignState, Slot, SlotState
from console.health import WORKER_SILENT
from jobs.models import Heartbeat
from jobs.ticks import TICK
from replays.synthetic import accounts
from simulation.any_world import AnyWorld
from simulation.browser import Browser, NotHere
from simulation.crowd import Crowd
from simulation.doors.market import Outcome
from simulation.doors.member import Member
from simulation.people import Person, people_of
from storage.secrets import new_password

MOST_PEOPLE, MOST_PACE = 1_000, 60


class Command(BaseCommand):
    """Let a synthetic crowd work in a campaign, through its pages."""

    help = (
        "Let a synthetic crowd answer the open items of a campaign. The crowd logs in and works on the web pages "
        "of a running platform, like people, but faster. The campaign is permanently marked as answered by a "
        "synthetic crowd, on its pages and in its releases. Example: manage.py crowd demo-crowd --people 8 --pace"
        " 2"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("--people", type=int, default=8, help="number of synthetic annotators (default 8)")
        parser.add_argument(
            "--spam", type=float, default=0.1, help="share of work by annotators who don't read the items (default 0.1)"
        )
        parser.add_argument("--seed", type=int, default=1, help="random seed; the same seed gives the same crowd")
        parser.add_argument(
            "--pace",
            type=float,
            default=0,
            help="seconds that each annotator waits before each step of an answer (default 0)",
        )
        parser.add_argument("--seconds", type=float, default=120, help="maximum run time in seconds (default 120)")
        parser.add_argument(
            "--url", default="", help=f"URL of the platform, on this machine (default {settings.PLATFORM_URL})"
        )
        parser.add_argument(
            "--production",
            default="",
            metavar="SLUG",
            help="repeat the campaign's short name here to allow a synthetic crowd with production settings",
        )
        parser.add_argument(
            "--mixed",
            action="store_true",
            help="run even if people have answered; their answers are marked as synthetic too",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create accounts, let them work, and mark the campaign at the first answer."""
        campaign = campaign_named(options["campaign"])
        if not 1 <= options["people"] <= MOST_PEOPLE:
            raise CommandError(f"--people must be between 1 and {MOST_PEOPLE:,}")
        if not 0 <= options["pace"] <= MOST_PACE:
            raise CommandError(f"--pace must be between 0 and {MOST_PACE} seconds")
        if campaign.state != CampaignState.OPEN:
            raise CommandError(
                f"{campaign.slug} is {campaign.get_state_display().lower()}; a synthetic crowd can work only in an open campaign"
            )
        _refuse_production(campaign, options["production"])
        url = (options["url"] or settings.PLATFORM_URL).rstrip("/")
        began, crowd = time.monotonic(), None
        try:
            if not options["mixed"]:
                campaign_check_unanswered(campaign)
            crowd, waiting = (
                Crowd(_members(campaign, url, options), seed=options["seed"], threads=4),
                self._waiting(campaign),
            )
            crowd.run(lambda: not waiting.exists() and not _may_ask_again(campaign), seconds=options["seconds"])
        except AnsweredByPeople as error:
            raise CommandError(f"{error} Use --mixed to continue.") from error
        except NotHere as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            left = _left_by(campaign, crowd) if crowd is not None else ""
            raise CommandError(f"{url} doesn't respond; check that the platform is running ({error}){left}") from error
        answered = crowd.outcomes[Outcome.HANDED_IN]
        self.stdout.write(
            f"{answered:,} answers by {options['people']} annotators in {time.monotonic() - began:.0f} s ({crowd.days:.1f} days of simulated time); {waiting.count():,} still open"
        )

    def _waiting(self, campaign: Campaign) -> Any:
        return Slot.objects.filter(campaign=campaign, state__in=[SlotState.OPEN, SlotState.HELD])


def _may_ask_again(campaign: Campaign) -> bool:
    """Return whether a worker has yet to examine answers: votes that don't agree open a second round."""
    if not Heartbeat.objects.filter(name=TICK, at__gte=timezone.now() - WORKER_SILENT).exists():
        return False
    new = Annotation.objects.filter(campaign=campaign, state=AnnotationState.COUNTED, is_examined=False)
    return bool(new.exists())


def _left_by(campaign: Campaign, crowd: Crowd) -> str:
    """Return what a crowd left that couldn't finish, and how to go on."""
    campaign.refresh_from_db()
    mark = "is marked as answered by a synthetic crowd" if campaign.is_synthetic else "wasn't marked"
    answered = crowd.outcomes[Outcome.HANDED_IN]
    return f". {answered:,} answers were submitted, and {campaign.slug} {mark}. The crowd's accounts stay. Run the command again to continue"


def _refuse_production(campaign: Campaign, named: str) -> None:
    """Refuse installations with people's campaigns, unless this campaign's name is given a second time."""
    if settings.CROWD_NEEDS_NAME and named != campaign.slug:
        raise CommandError(
            f"this installation uses production settings; to let a synthetic crowd work anyway and permanently mark the campaign, add --production {campaign.slug}"
        )


def _members(campaign: Campaign, url: str, options: dict[str, Any]) -> list[Member]:
    """Return the members of the crowd; the first one is already logged in.

    If the platform doesn't respond, no account is created; if logging in fails, only one is.
    """
    if Browser().get(f"{url}/healthz").status != HTTPStatus.OK:
        raise CommandError(f"{url} responds, but not like a running Quorate platform; check the URL")
    name, password = f"{campaign.slug}-{secrets.token_hex(3)}", new_password()
    world, marked = AnyWorld(options["seed"]), _Marked(campaign, mixed=options["mixed"])

    def before_answering() -> None:
        time.sleep(options["pace"])
        marked()

    people = people_of(world.model, options["people"], seed=options["seed"], spam=options["spam"])

    def member(email: str, person: Person) -> Member:
        return Member(url, campaign.slug, email, password, person, world, before_answering=before_answering)

    [first] = accounts(campaign, name, 1, password)
    try:
        member(first, people[0]).log_in()
    except RuntimeError as error:
        raise CommandError(
            f"{error} at {url}; check that the platform there uses this database. The campaign wasn't marked, but the account {first} was created"
        ) from error
    emails = accounts(campaign, name, options["people"], password)
    return [member(email, person) for email, person in zip(emails, people, strict=True)]


class _Marked:
    """Marks a campaign as answered by a synthetic crowd, just before the first answer is sent."""

    def __init__(self, campaign: Campaign, *, mixed: bool) -> None:
        self._campaign, self._mixed = campaign, mixed
        self._lock, self._is_done = threading.Lock(), False

    def __call__(self) -> None:
        with self._lock:
            if self._is_done:
                return
            try:
                campaign_mark_synthetic(campaign=self._campaign, mixed=self._mixed, actor_id=None, now=timezone.now())
                self._is_done = True
            finally:
                connection.close()  # of a thread of the crowd
