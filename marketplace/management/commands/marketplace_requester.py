"""``manage.py marketplace_requester``: make, fund and list requesters, rotate their keys."""

import json
from argparse import BooleanOptionalAction
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace import clock
from marketplace.management.prepared import prepare
from marketplace.models import AccessKey, Requester
from marketplace.protocol.fees import RULES
from marketplace.services.ledger import money_deposit
from marketplace.services.requesters import (
    frame_secret,
    key_current,
    key_secret,
    keys_rotate,
    layout_save,
    requester_create,
    requester_update,
)


class Command(BaseCommand):
    """Create a requester, or change an existing one."""

    help = (
        "Create a requester with an access key, and print the settings for boto3. For an existing requester, add "
        "money, rotate the keys, or print the key again. Without a name, list all requesters and their balances. "
        "Example: manage.py marketplace_requester lab --deposit 100"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("name", nargs="?", default="", help="name of the requester; omit it to list all requesters")
        parser.add_argument(
            "--deposit",
            "--fund",
            dest="deposit",
            default="0",
            metavar="DOLLARS",
            help="amount of money to add to the requester's balance",
        )
        parser.add_argument(
            "--fees",
            choices=sorted(RULES),
            default=None,
            help="fee rules (default for new requesters: MARKETPLACE_FEES)",
        )
        parser.add_argument(
            "--sign-frames",
            action=BooleanOptionalAction,
            default=None,
            help="sign the ids in frame URLs with an HMAC, so that nobody can forge them (on by default for new requesters)",
        )
        parser.add_argument("--rotate-keys", action="store_true", help="revoke all keys and make a new one")
        parser.add_argument(
            "--layout", metavar="FILE", help="save this HTML file as a HIT layout and print its HITLayoutId"
        )
        parser.add_argument("--env", action="store_true", help="print endpoint, key and secret as shell variables")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the requested action and print the result."""
        prepare()
        if not options["name"]:
            self._print([_money(requester) for requester in Requester.objects.order_by("name")], options)
            return
        deposit = _dollars(options["deposit"])
        now = clock.now()
        requester, state = _made_or_changed(options, now)
        rotate = keys_rotate if options["rotate_keys"] else key_current
        key = rotate(requester=requester, now=now)
        if deposit:
            money_deposit(requester=requester, amount=deposit, now=now)
        requester.refresh_from_db()
        shown = {"state": state, **_money(requester), **_access(requester, key)}
        if options["layout"]:
            shown["hit_layout_id"] = _layout(requester, options["layout"])
        if options["env"]:
            names = {"ENDPOINT": "endpoint_url", "KEY": "aws_access_key_id", "SECRET": "aws_secret_access_key"}
            self.stdout.write("\n".join(f"export MARKETPLACE_{name}={shown[key]}" for name, key in names.items()))
        else:
            self._print([shown], options)

    def _print(self, rows: list[dict[str, str]], options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(rows[0] if options["name"] else rows))
            return
        for row in rows:
            self.stdout.write("\n".join(f"{name:<22} {value}" for name, value in row.items()) + "\n")


def _made_or_changed(options: dict[str, Any], now: datetime) -> tuple[Requester, str]:
    requester = Requester.objects.filter(name=options["name"]).first()
    fees, signs = options["fees"], options["sign_frames"]
    if requester is None:
        rules = fees or settings.MARKETPLACE_FEES
        signs = signs is not False
        return requester_create(name=options["name"], fee_rules=rules, signs_frames=signs, now=now), "made"
    requester_update(requester=requester, fee_rules=fees, signs_frames=signs)
    return requester, "found"


def _dollars(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise CommandError(f"--deposit must be an amount in dollars such as 100 or 12.50, not {text!r}") from None
    if value < 0 or value != value.quantize(Decimal("0.01")):
        raise CommandError("--deposit must be a positive amount in dollars and whole cents")
    return value


def _money(requester: Requester) -> dict[str, str]:
    pots = ("deposited", "available", "held", "paid", "fees")
    return {"requester": requester.name, "customer_id": requester.customer_id} | {
        pot: f"{getattr(requester, pot):.2f}" for pot in pots
    }


def _access(requester: Requester, key: AccessKey) -> dict[str, str]:
    return {
        "endpoint_url": settings.MARKETPLACE_API_URL,
        "region_name": "us-east-1",
        "aws_access_key_id": key.key_id,
        "aws_secret_access_key": key_secret(key),
        "frame_secret": frame_secret(requester),
    }


def _layout(requester: Requester, path: str) -> str:
    file = Path(path)
    try:
        html = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--layout {path}: {error}") from error
    return layout_save(requester=requester, name=file.name, html=html).layout_id
