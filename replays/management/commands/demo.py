"""``manage.py demo``: create and serve a platform to try out."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.models import Notification
from console.serving import add_serving_arguments, address_of, listener_at, prepare, serve
from replays.demo.finished import load_finished
from replays.demo.market import market_settings, seed_marketplace
from replays.demo.ports import MARKETPLACE, PLATFORM, DemoPorts, port_of
from replays.demo.relevance import CROWD_SLUG, seed_for_crowd, seed_relevance
from replays.demo.seed import seed_facts, seed_open, seed_people, seed_systems


class Command(BaseCommand):
    """Prepare, fill and serve a demo."""

    help = (
        "Set up and serve a demo with seven small campaigns. Four are ready to label (one also on the "
        "marketplace), one is for a synthetic crowd, and synthetic crowds have completed two. The marketplace "
        "runs beside the platform, with a requester, workers, and open HITs. The command prints the logins and "
        "serves until you press Ctrl-C. Running it again keeps existing data. Example: manage.py demo"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        add_serving_arguments(parser)
        parser.add_argument("--no-serve", action="store_true", help="fill the database without starting the servers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and fill the demo, print the logins, and serve it."""
        settings.EMAIL_BACKEND = (
            "django.core.mail.backends.dummy.EmailBackend"  # nobody here reads the mails of the demo
        )
        prepare(call_command)
        ports = DemoPorts(Path(settings.DATA_DIR) / "demo-ports.json")
        try:  # before filling: another demo may begin meanwhile
            marketplace = ports.hold(MARKETPLACE)
            listener = listener_at(options["bind"]) if options["bind"] else ports.hold(PLATFORM)
            ports.keep(PLATFORM, port_of(listener))
        except OSError as error:
            raise CommandError(str(error)) from error
        load_finished(now=timezone.now())
        logins = seed_people()
        seed_open(now=timezone.now(), stderr=self.stderr)
        seed_facts(now=timezone.now(), stderr=self.stderr)
        seed_systems(now=timezone.now(), stderr=self.stderr)
        seed_for_crowd(now=timezone.now(), stderr=self.stderr)
        market = seed_marketplace(port=port_of(marketplace))
        seed_relevance(market=market, now=timezone.now(), stderr=self.stderr)
        Notification.objects.filter(sent_at=None).update(sent_at=timezone.now())  # else they hide the logins

        def ready(address: str) -> None:
            self.stdout.write(f"\nQuorate is running at {address}\n\nLog in as\n")
            roles = ("administrator and manager", "annotator", "annotator", "researcher", "expert", "expert")
            for (email, password), role in zip(logins.items(), roles, strict=True):
                self.stdout.write(f"  {email:<20} {password}   {role}")
            self.stdout.write(f"\nThe marketplace is running at {market['workers_url']}\n\nLog in as a worker:\n")
            for worker in market["workers"]:
                self.stdout.write(f"  {worker['email']:<20} {worker['password']}   worker {worker['worker_id']}")
            self.stdout.write(
                f"\nPost HITs with boto3 at {market['endpoint_url']}: .venv/bin/python manage.py marketplace_requester demo\n"
            )
            if not options["no_serve"]:
                self.stdout.write(
                    "\nWatch a synthetic crowd answer a campaign of its own. In another terminal:\n"
                    f"  .venv/bin/python manage.py crowd {CROWD_SLUG} --pace 2 --url {address.rstrip('/')}\n"
                )
            self.stdout.write("\nPress Ctrl-C to stop. Nothing is lost: make demo continues where it stopped.")
            self.stdout.flush()

        if options["no_serve"]:
            ready("(not served)")
        else:
            try:
                serve(
                    listener=listener,
                    ready=ready,
                    marketplace=marketplace,
                    environment=market_settings(market, platform_url=f"http://{address_of(listener)}"),
                )
            except OSError as error:  # a server did not start
                raise CommandError(str(error)) from error
