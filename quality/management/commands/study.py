"""``manage.py study``: the studies of the Natural Questions and ANTIQUE papers, computed for a campaign."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Campaign
from measures.studies import PARTITIONS, Share, as_json, study_frame, usual_alpha
from quality.studies.selectors.relevance import relevance_study_of
from quality.studies.selectors.studies import StudyError, bounds_of, precision_of, statistics_of, variability_of
from storage.json_output import json_line
from storage.tables.written import FORMATS, write_frames


class Command(BaseCommand):
    """Print a study."""

    help = (
        "Print a study of the Natural Questions paper or, with antique, the statistics of the ANTIQUE paper. statistics: section 3.3 and Figure 2; precision: section 4.3 and "
        "Table 2, of the samples that experts judged; variability: section 4.4 and Figure 4; bounds: section 5.2. "
        "Every share has a 95% interval. Example: manage.py study earth bounds --ways 25"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="CAMPAIGN", help="the short name of the campaign")
        parser.add_argument("study", choices=list(STUDIES), help="study to compute")
        parser.add_argument("--split", default="", help="for statistics: use only this split")
        parser.add_argument(
            "--ways", type=int, default=25, help="annotations per item, for variability and bounds (default 25)"
        )
        parser.add_argument(
            "--references",
            type=int,
            default=5,
            help="for bounds: annotations per item that are used as references (default 5)",
        )
        parser.add_argument(
            "--beta",
            type=int,
            default=2,
            help="for bounds: references that must have an answer for the item to count as answerable (default 2)",
        )
        parser.add_argument(
            "--alpha",
            type=int,
            help="for bounds: predicting annotations that must have an answer for the super-annotator to answer (default: 8 of 20)",
        )
        parser.add_argument(
            "--partitions",
            type=int,
            default=PARTITIONS,
            help=f"for bounds: number of random partitions (default {PARTITIONS})",
        )
        parser.add_argument("--seed", type=int, default=0, help="for bounds: seed for the partitions (default 0)")
        parser.add_argument(
            "--tables", type=Path, metavar="DIR", help="also write the numbers as a table to this folder"
        )
        parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="format of the table (default csv)")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute the study and print it."""
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"no campaign has the short name {options['campaign']!r}")
        try:
            found = STUDIES[options["study"]](campaign, options)
        except StudyError as error:
            raise CommandError(str(error)) from error
        if options["tables"]:
            try:
                write_frames({options["study"]: study_frame(found)}, options["tables"], options["format"])
            except OSError as error:
                raise CommandError(f"{options['tables']}: {error.strerror}") from error
        self.stdout.write(json_line(as_json(found)) if options["json"] else "\n".join(_lines(found)))


def _bounds(campaign: Campaign, options: dict[str, Any]) -> dict[str, Any]:
    ways, references = options["ways"], options["references"]
    predicting = ways - references
    if not 1 <= options["beta"] <= references < ways or options["partitions"] < 1:
        raise CommandError(
            "--beta, --references, and --ways must satisfy 1 ≤ beta ≤ references < ways, and --partitions must be at least 1"
        )
    alpha = usual_alpha(predicting) if options["alpha"] is None else options["alpha"]
    if not 0 <= alpha <= predicting:
        raise CommandError(f"--alpha must be between 0 and {predicting}, the number of predicting annotations")
    return bounds_of(
        campaign,
        ways,
        references=references,
        beta=options["beta"],
        alpha=alpha,
        partitions=options["partitions"],
        seed=options["seed"],
    )


STUDIES: dict[str, Callable[[Campaign, dict[str, Any]], dict[str, Any]]] = {
    "statistics": lambda campaign, options: statistics_of(campaign, options["split"]),
    "precision": lambda campaign, _options: precision_of(campaign),
    "variability": lambda campaign, options: variability_of(campaign, options["ways"]),
    "bounds": _bounds,
    "antique": lambda campaign, _options: relevance_study_of(campaign),
}


def _lines(found: Any, depth: int = 0, first: int = 1) -> list[str]:
    """Return a study as lines of text; ``first`` is the number of the first entry of a list."""
    lines, indent = [], "  " * depth
    named = found.items() if isinstance(found, dict) else enumerate(found, start=first)
    for name, value in named:
        if isinstance(value, Share):
            lines.append(f"{indent}{name}: {_percent(value)}")
        elif isinstance(value, dict | list):
            lines += [f"{indent}{name}:", *_lines(value, depth + 1, first=0 if name == "sweep" else 1)]  # α begins at 0
        else:
            lines.append(f"{indent}{name}: {value}")
    return lines


def _percent(share: Share) -> str:
    if math.isnan(share.share):
        return "nothing to compute it from"
    return f"{100 * share.share:.1f}% (95%: {100 * share.low:.1f} to {100 * share.high:.1f}; {share.items:,} items)"
