"""``manage.py crowd_report``: an analysis of any file of judgments, without a database."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from documents.management.reading import ReadingCommand
from measures.agreement import Level
from measures.charts.svg import in_page
from measures.judgment_files import JudgmentFileError, judgments_read, truths_read
from measures.judgments import Repeats, TooManyLabels
from measures.reports import crowd_report, report_frames
from quality.management.judgments import add_reading_arguments, asked_of
from storage.json_output import json_line
from storage.tables.written import FORMATS, write_frames

SHOWN = 10  # annotators and items in the text
MOST_ITEMS = 200  # of a page


class Command(ReadingCommand):
    """Report on a crowd."""

    help = (
        "Report agreement, labels, reliability, and uncertainty for a table of judgments (CSV, TSV, JSON lines, "
        "Parquet, or Excel). The table needs the columns item, worker, and label, and can have seconds. --truth "
        "names a table of known answers with the columns item and truth. Labels that aren't numbers have an order"
        " only if --labels gives it. No database is needed. Example: manage.py crowd_report labels.csv --truth "
        "truth.csv --level ordinal --labels poor,fair,good"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "judgments", type=Path, metavar="FILE", help="table of judgments with the columns item, worker, and label"
        )
        parser.add_argument("--truth", type=Path, help="table of known answers, with the columns item,truth")
        parser.add_argument(
            "--level",
            choices=[level.value for level in Level],
            default=Level.NOMINAL.value,
            help="the level of measurement of the labels",
        )
        parser.add_argument(
            "--labels", dest="labels_in_order", metavar="LOW,…,HIGH", help="all labels in order, lowest first"
        )
        add_reading_arguments(parser)
        parser.add_argument(
            "--repeats",
            choices=[one.value for one in Repeats],
            default=Repeats.LAST.value,
            help="judgment to use if a worker judged an item several times; refuse reports an error instead (default: last)",
        )
        parser.add_argument(
            "--html", type=Path, metavar="FILE", help="also write a page with charts and tables to this file"
        )
        parser.add_argument(
            "--tables",
            type=Path,
            metavar="DIR",
            help="also write the tables of annotators, items, and labels to this folder",
        )
        parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="format of the tables (default csv)")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the file, compute the report and print it."""
        level, path = Level(options["level"]), options["judgments"]
        try:
            crowd = judgments_read(path, asked_of(options))
            truth = truths_read(options["truth"], crowd, encoding=options["encoding"]) if options["truth"] else None
        except JudgmentFileError as error:
            raise CommandError(str(error)) from error
        try:
            found = crowd_report(crowd.judgments, level=level, truth=truth, seconds=crowd.seconds)
        except TooManyLabels as error:
            raise CommandError(f"{path}, column label: {error}") from error
        found["read"] = {"rows": crowd.read.rows, "notes": crowd.read.notes}
        if options["tables"]:
            try:
                write_frames(report_frames(found), options["tables"], options["format"])
            except OSError as error:
                raise CommandError(f"{options['tables']}: {error.strerror}") from error
        if options["html"]:
            _write_page(options["html"], path.name, found)
        text = json_line(found) if options["json"] else _text(found)
        self.stdout.write(text)


def _write_page(path: Path, name: str, found: dict[str, Any]) -> None:
    """Write a self-contained page."""
    from measures.charts.crowd import charts_of  # noqa: PLC0415  a report without charts loads no library for them

    charts = [(chart, mark_safe(in_page(chart))) for chart in charts_of(found)]  # noqa: S308  escaped by matplotlib
    doubtful = sorted(found["item_table"], key=lambda row: -row["posterior_entropy"])[:MOST_ITEMS]
    tokens = (settings.BASE_DIR / "static/css/tokens.css").read_text(encoding="utf-8")
    context = {
        "name": name,
        "found": found,
        "lines": _text(found).split("\n\n")[0].splitlines(),
        "charts": charts,
        "doubtful": doubtful,
        "tokens": mark_safe(tokens),  # noqa: S308  a file of our own
    }
    try:
        path.write_text(render_to_string("quality/crowd_report.html", context), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _text(found: dict[str, Any]) -> str:
    """Return the report as text."""
    lines = [
        f"{found['judgments']:,} judgments of {found['items']:,} items by {found['annotators']:,} annotators, "
        f"{len(found['labels'])} labels"
        + (f"; {found['repeated']:,} repeated ones left out" if found["repeated"] else ""),
        _alpha_line(found),
        f"percent agreement {_number(found['percent_agreement'])}, Fleiss' kappa {_number(found['fleiss_kappa'])}, "
        f"Gwet's AC1 {_number(found['gwet_ac1'])}"
        + (f", AC2 {_number(found['gwet_ac2'])}" if found["gwet_ac2"] is not None else ""),
        *_label_lines(found),
        "",
        "least agreement with the others (judgments, agreement with 95% interval, accuracy by the model):",
        *_annotator_lines(found["annotator_table"]),
        "",
        "most doubt (votes, entropy in bits, label by the model and its probability):",
        *_item_lines(found["item_table"]),
        "",
        _read_line(found),
        *(f"  {note}" for note in found["read"]["notes"]),
    ]
    return "\n".join(lines)


def _read_line(found: dict[str, Any]) -> str:
    return (
        f"read: {found['read']['rows']:,} rows, {found['judgments']:,} judgments, {found['items']:,} items, "
        f"{found['annotators']:,} annotators"
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _alpha_line(found: dict[str, Any]) -> str:
    if found["alpha"] is None:
        return f"Krippendorff's alpha is undefined: {found['alpha_why']}"
    order = "" if found["level"] == Level.NOMINAL else f", {' < '.join(map(str, found['labels']))}"
    line = f"Krippendorff's alpha ({found['level']}{order}) {found['alpha']:.3f}"
    if found["alpha_low"] is not None:
        line += f", 95% {found['alpha_low']:.3f} to {found['alpha_high']:.3f}"
    return line + (f" ({found['alpha_warning']})" if found["alpha_warning"] else "")


def _label_lines(found: dict[str, Any]) -> list[str]:
    model, seen = found["dawid_skene"], found["foresight"]
    lines = [f"majority: {found['majority']['tied']:,} items tied"]
    if found["truths"]:
        parts = [f"{name} {_number(found[key]['accuracy'])}" for name, key in _MODELS]
        lines.append(f"accuracy on {found['truths']:,} items with a known answer: {', '.join(parts)}")
    ended = "converged" if model["converged"] else "did NOT converge"
    lines.append(f"Dawid-Skene {ended} after {model['rounds']} rounds")
    if seen["held_out"]:
        better = "the model" if seen["prefers_model"] else "the vote"
        sure = "" if seen["is_clear"] else ", but not in nearly all splits"
        spread = "" if seen["spread"] is None else f", the difference varies by {seen['spread']:.3f}"
        lines.append(
            f"{better} predicts {seen['held_out']:,} held-out judgments better{sure} "
            f"(mean log-likelihood: model {seen['model']:.3f}, vote {seen['vote']:.3f}{spread})"
        )
    return lines


_MODELS = (("majority", "majority"), ("weighted by agreement", "wawa"), ("Dawid-Skene", "dawid_skene"))


def _annotator_lines(rows: list[dict[str, Any]]) -> list[str]:
    with_peers = sorted((row for row in rows if row["peers_of"]), key=lambda row: row["peers_high"])
    return [
        f"  {row['annotator']}: {row['judgments']:,}, {row['peers']:.2f} ({row['peers_low']:.2f} to "
        f"{row['peers_high']:.2f}), {row['model_accuracy']:.2f}"
        for row in with_peers[:SHOWN]
    ]


def _item_lines(rows: list[dict[str, Any]]) -> list[str]:
    doubtful = sorted(rows, key=lambda row: -row["posterior_entropy"])
    return [
        f"  {row['item']}: {row['votes']}, {row['vote_entropy']:.2f}, {row['dawid_skene']} ({row['posterior']:.2f})"
        for row in doubtful[:SHOWN]
    ]
