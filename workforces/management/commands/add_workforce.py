"""``manage.py add_workforce``: add a marketplace or a link from which people come to a campaign."""

from dataclasses import fields
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from jobs.terminal import print_result
from workforces.kinds.registry import KINDS
from workforces.services.workforces import workforce_add


class Command(BaseCommand):
    """Add a workforce, or give an existing one new terms."""

    help = (
        "Add a workforce (a source of annotators) to a campaign: postings on the configured marketplace, or a "
        "link for a panel, which is printed. Terms are given as NAME=VALUE; --list shows them. Example: manage.py"
        " add_workforce relevance mturk reward_cents=5 qualification=paper cap_cents=50000"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("kind", choices=[key for key, kind in KINDS.items() if kind.form], help="kind of workforce")
        parser.add_argument("terms", nargs="*", metavar="NAME=VALUE", help="a term and its value; --list shows them")
        parser.add_argument("--list", action="store_true", help="list the terms with their defaults and exit")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the terms, add the workforce, and print the result."""
        known = {one.name: one.default for one in fields(KINDS[options["kind"]].terms_class)}
        if options["list"]:
            print_result(
                self.stdout,
                known,
                as_json=options["json"],
                summary="\n".join(f"{name:<24} {value}" for name, value in known.items()),
            )
            return
        campaign = campaign_named(options["campaign"])
        try:
            terms = dict(_term(text, known) for text in options["terms"])
            row = workforce_add(campaign=campaign, kind=options["kind"], terms=terms, actor_id=None, now=timezone.now())
        except ValueError as error:
            raise CommandError(str(error)) from error
        result = {"campaign": campaign.slug, "kind": row.kind, "terms": row.terms}
        summary = f"{campaign.slug} has a workforce {row.kind}"
        handed_out = KINDS[row.kind].handed_out(row)
        if handed_out:
            summary = next(iter(handed_out.values()))
        print_result(self.stdout, {**result, **handed_out}, as_json=options["json"], summary=summary)


def _term(text: str, known: dict[str, Any]) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or name not in known:
        raise ValueError(f"{text!r}: expected NAME=VALUE with one of {', '.join(known)}")
    default = known[name]
    if isinstance(default, bool):
        if value not in ("true", "false"):
            raise ValueError(f"{name} must be true or false")
        return name, value == "true"
    if isinstance(default, int) or default is None:
        if not value.lstrip("-").isdecimal():
            raise ValueError(f"{name} must be a whole number")
        return name, int(value)
    return name, value
