"""``manage.py plan``: the cost and quality of a campaign, forecast by policy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from annotation.models import Campaign
from measures.agreement import Level
from measures.judgment_files import JudgmentFileError, judgments_read, truths_read
from quality.management.judgments import add_reading_arguments, asked_of
from quality.plans.asking import (
    campaign_asked,
    crowd_assumed,
    crowd_fitted,
    foreseen,
    policy_named,
    truth_places,
)
from quality.plans.engine import RUNS
from quality.plans.making import plan_made
from quality.plans.services import plan_keep
from quality.plans.setting import PlanError, Setting
from quality.plans.words import TITLES, span
from quality.policies.policy import Policy
from storage.json_output import json_line

LABELS = "1,2,3,4"
GOLD = ("gold_rate", "gold_first", "gold_first_items")


class Command(BaseCommand):
    """Plan a campaign by several policies side by side."""

    help = (
        "Forecast the cost, duration, label errors, expert work, and other figures of a campaign under several "
        "policies. The forecast uses a simulated crowd, either assumed (--no-majority) or fitted to judgments "
        "(--crowd). Without SLUG, no database is needed. Example: manage.py plan --items 1000 --people 60 "
        "--policy paper --policy fixed --policy target:0.1:300"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "campaign", nargs="?", metavar="SLUG", help="campaign from which to take labels, items, and policy"
        )
        parser.add_argument("--keep", action="store_true", help="store the forecast with the campaign")
        parser.add_argument(
            "--labels",
            dest="labels_in_order",
            metavar="LOW,…,HIGH",
            help="all labels in order (default 1,2,3,4; with --crowd, the labels in the file if they are numbers)",
        )
        parser.add_argument(
            "--level",
            choices=[level.value for level in Level],
            default=Level.ORDINAL.value,
            help="the level of measurement of the labels",
        )
        parser.add_argument("--items", type=int, help="number of items")
        parser.add_argument("--votes", type=int, default=3, help="votes per item in the first round (default 3)")
        parser.add_argument("--people", type=int, default=100, help="number of annotators (default 100)")
        parser.add_argument(
            "--spam",
            type=float,
            help="share of work by annotators who don't read the items (default 0.1; 0 with --crowd, because the "
            "fitted crowd includes such annotators)",
        )
        parser.add_argument("--reward", type=int, default=5, metavar="CENTS", help="reward per answer (default 5)")
        parser.add_argument(
            "--training-bonus", type=int, default=0, metavar="CENTS", help="bonus paid once per annotator (default 0)"
        )
        parser.add_argument(
            "--gold-rate", type=float, help="share of gold checks after the initial phase (default: the policy's)"
        )
        parser.add_argument(
            "--gold-first", type=int, metavar="N", help="gold checks in the initial phase (default: the policy's)"
        )
        parser.add_argument(
            "--gold-first-items",
            type=int,
            metavar="N",
            help="length of the initial phase in items (default: the policy's)",
        )
        parser.add_argument("--no-fees", action="store_true", help="calculate costs without marketplace fees")
        parser.add_argument(
            "--answers-a-day", type=float, default=60, help="answers per day of an average annotator (default 60)"
        )
        parser.add_argument(
            "--policy",
            action="append",
            metavar="POLICY",
            help="policy to forecast: paper, fixed or target:ERROR:DOLLARS; repeatable (default: the campaign's, or paper and fixed)",
        )
        parser.add_argument(
            "--no-majority",
            type=float,
            default=0.13,
            help="share of items on which careful annotators reach no majority (default 0.13)",
        )
        parser.add_argument(
            "--care",
            type=float,
            default=0.92,
            help="share of answers that honest annotators give after careful reading (default 0.92)",
        )
        parser.add_argument(
            "--answer-seconds", type=float, default=20, help="median time per answer in seconds (default 20)"
        )
        parser.add_argument(
            "--crowd",
            type=Path,
            metavar="FILE",
            help="table of judgments to fit the simulated crowd to, with the columns item,worker,label[,seconds]",
        )
        parser.add_argument(
            "--truth",
            type=Path,
            metavar="FILE",
            help="with --crowd: table of known labels, with the columns item,truth",
        )
        add_reading_arguments(parser)
        parser.add_argument("--runs", type=int, default=RUNS, help=f"simulation runs per policy (default {RUNS})")
        parser.add_argument("--seed", type=int, default=1, help="random seed; the same seed gives the same forecast")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan, print, keep."""
        campaign = campaign_named(options["campaign"]) if options["campaign"] else None
        if options["keep"] and campaign is None:
            raise CommandError("--keep needs a campaign; add its SLUG")
        try:
            data = _planned(options, campaign)
        except (PlanError, JudgmentFileError, ValueError) as error:
            raise CommandError(str(error)) from error
        if campaign is not None and options["keep"]:
            plan_keep(campaign=campaign, data=data, actor_id=None, now=timezone.now())
        self.stdout.write(json_line(data) if options["json"] else _text(data))


def _planned(options: dict[str, Any], campaign: Campaign | None) -> dict[str, Any]:
    labels, base = (
        campaign_asked(campaign) if campaign else ((options["labels_in_order"] or LABELS).split(","), Policy())
    )
    base = replace(base, **{name: options[name] for name in GOLD if options[name] is not None})
    items = campaign.items.count() if campaign else 0
    level, pilot = Level(options["level"]), None
    setting = Setting(
        items=options["items"] or items or _missing("--items"),
        votes=options["votes"],
        people=options["people"],
        spam=_spam(options),
        skew=0.0 if options["crowd"] else 1.0,
        reward_cents=options["reward"],
        training_cents=options["training_bonus"],
        has_fees=not options["no_fees"],
        answers_a_day=options["answers_a_day"],
        level=level,
    )
    if options["crowd"]:
        crowd = judgments_read(options["crowd"], asked_of(options))
        truths = truths_read(options["truth"], crowd, encoding=options["encoding"]) if options["truth"] else None
        true = truth_places(crowd.judgments, truths)
        model, pilot = crowd_fitted(crowd.judgments, true, crowd.seconds), foreseen(crowd.judgments, true, setting)
    else:
        model = crowd_assumed(
            labels,
            no_majority=options["no_majority"],
            care=options["care"],
            votes=options["votes"],
            seconds=options["answer_seconds"],
            level=level,
        )
    names = options["policy"] or ([base.process.value] if campaign else ["paper", "fixed"])
    policies = {name: policy_named(name, base) for name in names}
    source = (
        {"file": options["crowd"].name, "rows": crowd.read.rows, "notes": crowd.read.notes}
        if options["crowd"]
        else {"no_majority": options["no_majority"], "care": options["care"]}
    )
    return plan_made(model, policies, setting, source=source, pilot=pilot, runs=options["runs"], seed=options["seed"])


def _spam(options: dict[str, Any]) -> float:
    given: float | None = options["spam"]
    return given if given is not None else 0.0 if options["crowd"] else 0.1


def _missing(name: str) -> int:
    raise PlanError("plan_needs", name=name)


def _heading(data: dict[str, Any]) -> str:
    setting = data["setting"]
    return (
        f"{setting['items']:,} items, {setting['votes']} votes each, {setting['people']} people, {setting['spam']:.0%} of work "
        f"by people who do not read; nine of ten of {data['runs']} runs lie between the bounds"
    )


def _text(data: dict[str, Any]) -> str:
    plans = {name: data["plans"][name] for name in data["names"]}
    width = max(len(title) for title in TITLES.values()) + 2
    cells = {name: [span(key, one[key]) for key in TITLES] for name, one in plans.items()}
    columns = {name: max(len(name), *map(len, texts)) + 2 for name, texts in cells.items()}
    lines = [_heading(data), "", " " * width + "".join(f"{name:<{columns[name]}}" for name in plans)]
    for place, title in enumerate(TITLES.values()):
        lines.append(f"{title:<{width}}" + "".join(f"{cells[name][place]:<{columns[name]}}" for name in plans))
    if data["pilot"]:
        lines += ["", "what the judgments themselves say of other items by other people (90%):"]
        for name, one in data["pilot"].items():
            said = (
                "not known" if one["value"] is None else f"{one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
            )
            lines.append(f"{name.replace('_', ' '):<{width}}{said}")
    return "\n".join(lines)
