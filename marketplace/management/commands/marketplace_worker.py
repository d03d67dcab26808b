"""``manage.py marketplace_worker``: invite workers, or create workers with a work record."""

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
        "Without --email, print a link with which people can sign up as workers. With --email, create an account "
        "for testing, with a password (printed), a country, and an approval record. Example: manage.py "
        "marketplace_worker --uses 5"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--email",
            default="",
            help="email address of the account to create; for an existing account, --country changes the country",
        )
        parser.add_argument("--password", default="", help="password of the new account (default: random and printed)")
        parser.add_argument(
            "--count",
            type=int,
            default=0,
            metavar="N",
            help="create N accounts with the same password for a synthetic crowd; {} in the email address becomes 0 to N-1",
        )
        parser.add_argument(
            "--country", default="", metavar="XX", help="two-letter code of the country in the worker's profile"
        )
        parser.add_argument(
            "--subdivision",
            default="",
            metavar="XX",
            help="two-letter code of the state or province in the worker's profile",
        )
        parser.add_argument(
            "--approved",
            type=int,
            default=0,
            help="number of approved assignments in the new worker's record (default 0)",
        )
        parser.add_argument(
            "--rejected",
            type=int,
            default=0,
            help="number of rejected assignments in the new worker's record (default 0)",
        )
        parser.add_argument(
            "--uses", type=int, default=1, help="number of people who can sign up with the link (default 1)"
        )
        parser.add_argument("--days", type=int, default=14, help="number of days until the link expires (default 14)")
        parser.add_argument("--note", default="", help="note on the purpose of the link")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

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
        """Create accounts for a synthetic crowd; existing accounts don't change."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("--count is for testing and works only with MARKETPLACE_DEVELOPMENT=1")
        if "{}" not in options["email"] or not options["password"]:
            raise CommandError("--count needs an --email with {} in it and a --password")
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
            raise CommandError(
                f"a worker with the email address {options['email']} already exists; use --country to change the worker's country"
            )
        if (options["approved"] or options["rejected"]) and not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("--approved and --rejected are for testing and work only with MARKETPLACE_DEVELOPMENT=1")
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
    """Reject an email address or location that the profile page would reject."""
    try:
        options["email"] = plain_address(options["email"])
    except ValidationError:
        raise CommandError(f"--email must be an email address, not {options['email']!r}") from None
    for name in ("country", "subdivision"):
        if options[name] and not re.fullmatch(r"[A-Za-z]{2}", options[name]):
            raise CommandError(f"--{name} must be a two-letter code such as DE or CA, not {options[name]!r}")
