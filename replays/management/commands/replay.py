"""``manage.py replay``: the complete collection of a paper, by a synthetic crowd over HTTP."""

import json
import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.serving import prepare
from replays.base import Asked, State
from replays.registry import REPLAYS, report_of
from replays.settling import Stuck
from storage.json_output import json_line


class Command(BaseCommand):
    """Run a replay, or resume one that was interrupted."""

    help = (
        "Repeat the data collection of a paper at any scale, with a synthetic crowd that sees only the web pages."
        " A replay includes the campaign, people, quality control, release, and report. To resume an interrupted "
        "replay, run the same command again. Example: manage.py replay antique --scale 0.01 --seed 1"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("kind", choices=list(REPLAYS), help="data collection to repeat")
        parser.add_argument(
            "--scale",
            type=float,
            default=0.01,
            help="size relative to the paper, where 1 is the paper's size (default 0.01)",
        )
        parser.add_argument("--seed", type=int, default=1, help="random seed; the same seed gives the same crowd")
        parser.add_argument("--seconds", type=float, default=7200, help="maximum run time in seconds (default 7200)")
        parser.add_argument(
            "--to", type=Path, metavar="FILE", help="also write the report to this file (.md, and .json beside it)"
        )
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the replay, and write the report."""
        if not 0 < options["scale"] <= 1:
            raise CommandError("--scale must be above 0 and at most 1")
        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"  # a synthetic crowd has no mailboxes
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does: what was measured so far is kept
        prepare(call_command)
        asked = Asked(options["kind"], options["scale"], options["seed"], options["seconds"])
        state = State.of(asked)
        replay, rendered = REPLAYS[asked.kind]
        try:
            figures = replay(asked, state, self.stderr.write)
        except Stuck as error:
            raise CommandError(f"not finished: {error}. Run the same command again to resume") from error
        report = report_of(asked, state, figures)
        text = rendered(report)
        if options["to"]:
            options["to"].with_suffix(".md").write_text(text, encoding="utf-8")
            options["to"].with_suffix(".json").write_text(json.dumps(report, indent=1), encoding="utf-8")
        self.stdout.write(json_line(report) if options["json"] else text)
