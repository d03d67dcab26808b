"""`evaluate nq`: predictions for Natural Questions."""

import argparse
import json
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError, matching_files
from evaluation.nq.gold import GoldFault, read_gold
from evaluation.nq.humans import REFERENCES, TooFewAnnotations
from evaluation.nq.predictions import PredictionFault, read_predictions
from evaluation.nq.report import nq_report
from evaluation.nq.scores import Example, ExamplesDiffer
from evaluation.nq.table import PATTERN
from exports.released.folder import SUMS

HELP = "Natural Questions: score a prediction file against files in the original format"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--gold",
        required=True,
        nargs="+",
        metavar="GLOB",
        help="files in the original format, plain or gzip, or the folder of a release, which is read much faster",
    )
    parser.add_argument(
        "--predictions",
        required=True,
        type=Path,
        metavar="FILE",
        help="predictions in the format of the official evaluation",
    )
    parser.add_argument(
        "--long-threshold",
        type=int,
        default=2,
        metavar="N",
        help="number of annotations with a long answer that make an example answerable (default 2; use 1 for files with one annotation)",
    )
    parser.add_argument(
        "--short-threshold",
        type=int,
        default=2,
        metavar="N",
        help="number of annotations with a short answer that make an example answerable (default 2)",
    )
    parser.add_argument(
        "--people",
        type=int,
        nargs="?",
        const=REFERENCES,
        default=0,
        metavar="N",
        help=f"also report human performance, with N random annotations per example as references (default {REFERENCES}) and the others as predictions",
    )
    parser.add_argument(
        "--examples", type=Path, metavar="FILE", help="write the scores of each example to this file, as JSON lines"
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report; the official numbers are under ``metrics``.

    Raises
    ------
    EvaluationError
    """
    if min(options["long_threshold"], options["short_threshold"]) < 1 or options["people"] < 0:
        raise EvaluationError("thresholds and references are at least 1")
    try:
        found, examples = nq_report(
            read_gold(_files(options["gold"])),
            read_predictions(options["predictions"]),
            long_beta=options["long_threshold"],
            short_beta=options["short_threshold"],
            resamples=options["resamples"],
            seed=options["seed"],
            references=options["people"],
        )
    except (GoldFault, PredictionFault, ExamplesDiffer, TooFewAnnotations) as error:
        raise EvaluationError(str(error)) from error
    if options["examples"]:
        try:
            options["examples"].write_text("".join(map(_line, examples)), encoding="utf-8")
        except OSError as error:
            raise EvaluationError(f"{options['examples']}: cannot be written: {error}") from error
    return found


def _files(patterns: list[str]) -> list[Path]:
    """Return the files that match the patterns, which a shell may have expanded; for a folder, its annotation tables.

    Raises
    ------
    EvaluationError, GoldFault
        A pattern matches no file, or a folder has no annotation tables.
    """
    found: set[Path] = set()
    for pattern in patterns:
        if Path(pattern).is_dir():
            paths = set(Path(pattern).glob(PATTERN))
            if not paths:
                raise GoldFault(f"{pattern}: has no {PATTERN}: it isn't a Natural Questions release")
            if not all(path.is_file() for path in paths):
                raise GoldFault(f"{pattern}: not everything like {PATTERN} is a file")
            if not (Path(pattern) / SUMS).is_file():
                raise GoldFault(f"{pattern}: has no {SUMS}, which is written last: the release is incomplete")
        else:
            paths = matching_files(pattern)
        found |= paths
    return sorted(found)


def _line(one: Example) -> str:
    return json.dumps({"example_id": one.example_id, "long": one.long._asdict(), "short": one.short._asdict()}) + "\n"


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    lines = [f"{report['examples']:,} examples"]
    for kind in ("long", "short"):
        metrics = {
            name.removeprefix(f"{kind}-"): value for name, value in report["metrics"].items() if name.startswith(kind)
        }
        lines += ["", f"{kind} answers at the best threshold ({metrics['best-threshold']:.5g})"]
        for name in ("f1", "precision", "recall"):
            low, high = report["intervals"][kind].get(name, (None, None))
            interval = f"   95%: {low:.4f} to {high:.4f}" if low is not None else ""
            lines.append(f"  {name:<10} {metrics[f'best-threshold-{name}']:.4f}{interval}")
        lines += [
            f"  recall at precision ≥ {target}: {metrics[f'recall-at-precision>={target}']:.4f}"
            for target in ("0.5", "0.75", "0.9")
        ]
        lines.append(f"  accuracy (right answer, or none where none is right): {report['accuracy'][kind]:.4f}")
    lines += ["", "kind of example        examples  answered  right"]
    lines += [
        f"{kind:<22} {row['examples']:>8,} {row['answered']:>9,} {row['right']:>6,}"
        for kind, row in report["by_type"].items()
    ]
    found = report["conditional"]
    lines += [
        "",
        f"F1 where both answers exist ({found['answerable']['examples']:,}): long {found['answerable']['long']:.4f}, short {found['answerable']['short']:.4f}",
        f"F1 of short answers where the long one is right ({found['short_given_long']['examples']:,}): {found['short_given_long']['short']:.4f}",
    ]
    return "\n".join([*lines, *_people(report["people"])] if "people" in report else lines)


def _people(found: dict[str, Any]) -> list[str]:
    """Return lines with the scores of human annotators, and of the system by the same measure."""
    lines = ["", f"F1 against {found['references']} of {found['annotations']} annotations, drawn again and again"]
    for kind in ("long", "short"):
        lines += [
            f"  {kind + ' answers, ' + who:<34} {found[kind][key]['f1']['share'] or 0:.4f}"
            for who, key in (("one annotator", "single"), ("super-annotator", "super"), ("the system", "system"))
        ]
    return lines
