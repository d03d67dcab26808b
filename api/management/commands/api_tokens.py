"""``manage.py api_tokens``: tokens for scripts, and revoking those of a person."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from annotation.management.campaigns import campaign_named
from api.models import TokenScope
from api.tokens.selectors import tokens_of
from api.tokens.services import TokenError, token_create, token_revoke


class Command(BaseCommand):
    """List, create or revoke a person's tokens."""

    help = (
        "List a person's API tokens, with their scopes and when they were last used. --create makes one and prints "
        "only its secret, which is shown once. --revoke-all revokes every token of the person. "
        "Example: manage.py api_tokens anna@example.org --create nightly --scope read --scope release --days 90"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("email", help="the email address of the person")
        parser.add_argument("--create", default="", metavar="NAME", help="create a token with this name")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=TokenScope.values,
            help="with --create: what the token allows; repeat it for several (default: read)",
        )
        parser.add_argument("--campaign", default="", metavar="SLUG", help="with --create: only in this campaign")
        parser.add_argument("--days", type=int, default=90, help="with --create: valid for this long (default 90)")
        parser.add_argument("--revoke-all", action="store_true", help="revoke every token of the person")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what the options say."""
        now = timezone.now()
        person = User.objects.filter(email__iexact=options["email"], is_active=True).first()
        if person is None:
            raise CommandError(f"there is no active account with the address {options['email']}")
        if options["create"]:
            campaign = campaign_named(options["campaign"]) if options["campaign"] else None
            try:
                _token, secret = token_create(
                    user=person,
                    name=options["create"],
                    scopes=options["scope"] or [TokenScope.READ],
                    campaign=campaign,
                    days=options["days"],
                    now=now,
                )
            except TokenError as error:
                raise CommandError(str(error)) from error
            self.stdout.write(secret)
        elif options["revoke_all"]:
            revoked = sum(token_revoke(token=token, now=now) for token in tokens_of(person))
            self.stdout.write(f"{person.email}: {revoked} tokens revoked")
        else:
            for token in tokens_of(person):
                used = f"{token.used_at:%Y-%m-%d %H:%M} UTC" if token.used_at else "never"
                where = token.campaign.slug if token.campaign else "all campaigns"
                self.stdout.write(
                    f"…{token.ending} {token.name}: {', '.join(token.scopes)}; {where}; used {used}; "
                    f"valid until {token.expires_at:%Y-%m-%d}"
                )
