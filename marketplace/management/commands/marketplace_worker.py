"""``manage.py marketplace_worker``: invite workers, or seed some with a record."""

import json
import re
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace import clock
from marketplace.management.prepared import prepare
from marketplace.models import Worker
from marketplace.services.workers import invitation_create, worker_create, worker_move
from storage.secrets import new_password
from web.mails import plain_address


class Command(BaseCommand):
    """Print a sign-up link, or make accounts."""

    help = (
        "Without --email: print a link that lets people sign up as workers. With it: make an account with a password "
        "(printed), a country and an approval record, for trying things out. Example: manage.py marketplace_worker --uses 5"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--email", default="", help="make an account with this address; of one that is there, change the country"
        )
        parser.add_argument("--password", default="", help="default: a random one, printed")
        parser.add_argument(
            "--count",
            type=int,
            default=0,
            metavar="N",
            help="make N accounts for a synthetic crowd, with one password: {} in the address becomes 0 to N-1",
        )
        parser.add_argument("--country", default="", metavar="XX", help="the country in the profile of the worker")
        parser.add_argument("--subdivision", default="", metavar="XX", help="the state or province in the profile")
        parser.add_argument("--approved", type=int, default=0, help="assignments approved before")
        parser.add_argument("--rejected", type=int, default=0, help="assignments rejected before")
        parser.add_argument("--uses", type=int, default=1, help="of the link")
        parser.add_argument("--days", type=int, default=14, help="that the link works for")
        parser.add_argument("--note", default="", help="what the link is for")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make and print."""
        prepare()
        if options["count"]:
            shown: dict[str, Any] = self._crowd(options)
        else:
            shown = self._account(options) if options["email"] else self._link(options)
        self.stdout.write(
            json.dumps(shown) if options["json"] else "\n".join(f"{name:<10} {value}" for name, value in shown.items())
        )

    def _link(self, options: dict[str, Any]) -> dict[str, str]:
        token = invitation_create(uses=options["uses"], days=options["days"], note=options["note"], now=clock.now())
        return {"link": f"{settings.MARKETPLACE_URL}/join/{token}/"}

    def _crowd(self, options: dict[str, Any]) -> dict[str, Any]:
        """Make accounts for a synthetic crowd; those that are there stay as they are."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("a synthetic crowd is for trying things out only (MARKETPLACE_DEVELOPMENT=1)")
        if "{}" not in options["email"] or not options["password"]:
            raise CommandError("--count takes an --email with {} in it, and a --password")
        hashed, made = make_password(options["password"]), 0
        for number in range(options["count"]):
            email = plain_address(options["email"].replace("{}", str(number)))
            if Worker.objects.filter(email__iexact=email).exists():
                continue
            worker = worker_create(
                email=email,
                password=None,
                now=clock.now(),
                agreed_at=clock.now(),
                prior_approved=options["approved"],
                prior_rejected=options["rejected"],
            )
            # Hashing takes half a second; a crowd has one password.
            Worker.objects.filter(pk=worker.pk).update(password=hashed)
            made += 1
        return {"made": made, "count": options["count"]}

    def _account(self, options: dict[str, Any]) -> dict[str, str]:
        _check(options)
        found = Worker.objects.filter(email__iexact=options["email"]).first()
        if found is not None and options["country"]:
            country, subdivision = options["country"].upper(), options["subdivision"].upper()
            worker_move(worker=found, country=country, subdivision=subdivision)
            return {"email": found.email, "worker_id": found.worker_id, "country": country}
        if found is not None:
            raise CommandError(f"there is a worker with the address {options['email']}")
        if (options["approved"] or options["rejected"]) and not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError(
                "a record is earned; it can be given for trying things out only (MARKETPLACE_DEVELOPMENT=1)"
            )
        password = options["password"] or new_password()
        worker = worker_create(
            email=options["email"],
            password=password,
            now=clock.now(),
            country=options["country"].upper(),
            subdivision=options["subdivision"].upper(),
            prior_approved=options["approved"],
            prior_rejected=options["rejected"],
        )
        return {"email": worker.email, "password": password, "worker_id": worker.worker_id}


def _check(options: dict[str, Any]) -> None:
    """Refuse an address or a place that the profile page would refuse."""
    try:
        options["email"] = plain_address(options["email"])
    except ValidationError:
        raise CommandError(f"--email takes an email address, not {options['email']!r}") from None
    for name in ("country", "subdivision"):
        if options[name] and not re.fullmatch(r"[A-Za-z]{2}", options[name]):
            raise CommandError(f"--{name} takes two letters such as DE or CA, not {options[name]!r}")
