"""``source elsewhere``: records of other tools as rows to import, and their judgments as a table."""

import csv
import io
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from documents.text_files import FileFault
from sources.records import read_records
from sources.rules.faults import RecordFault
from sources.rules.mapping import at, mapped, pairs_of
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import named_apart

KEY, VERSION = "elsewhere", 1
HELP = (
    "Make rows to import of records of other tools, column by column, and a table of their judgments: Label Studio's JSON "
    "export, files of a Hugging Face datasets folder (Parquet, JSON lines, CSV)."
)
ROWS, JUDGMENTS = "rows.jsonl", "judgments.csv"
_AT_ONCE = 1_000
Judgment = tuple[str, str]  # worker, label


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="JSON, JSON lines, CSV, TSV or Parquet")
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=PATH", help="which part of a record becomes which column, such as question=data.text; repeatable")  # fmt: skip
    parser.add_argument("--label-studio", action="store_true", help="records are tasks of Label Studio, with their annotations")  # fmt: skip
    parser.add_argument("--name", metavar="NAME", help="of Label Studio's results, which are the judgments (from_name)")
    parser.add_argument("--worker", metavar="PATH", help="where a record names who judged it")
    parser.add_argument("--label", metavar="PATH", help="where a record holds what they said")
    parser.add_argument("--show", action="store_true", help="show the mapping on the first record, and write nothing")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files, whose names differ."""
    return {"records": named_apart(options["files"], "files")}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping, and where judgments are.

    Raises
    ------
    StepError
    """
    try:
        paths = pairs_of(options["map"])
    except ValueError as error:
        raise StepError(f"--map: {error}") from error
    if not paths:
        raise StepError("say with --map which part of a record becomes which column; --show shows a record")
    if bool(options["label"]) != bool(options["worker"]) or (options["label_studio"] and options["label"]):
        raise StepError("judgments have --worker and --label, or are those of Label Studio")
    return {"map": paths, **{name: options[name] for name in ("label_studio", "name", "worker", "label")}}


def show(options: dict[str, Any]) -> str:
    """Return the first record, and what becomes of it.

    Raises
    ------
    StepError
    """
    try:
        paths = pairs_of(options["map"])
        for _path, _number, record in _records(options["files"]):
            keys = [f"  {name}: {str(value)[:60]!r}" for name, value in _leaves(record)]
            lines = [f"  {column} <- {path}: {str(at(record, path))[:60]!r}" for column, path in paths.items()]
            return "\n".join(["the first record holds", *keys, "of which are made", *(lines or ["  nothing yet: say --map COLUMN=PATH"])])  # fmt: skip
    except RecordFault as fault:
        raise StepError(f"{fault.column}: {fault}") from fault
    except RecursionError:
        raise StepError("the first record nests too deeply to be shown") from None
    except ValueError as error:
        raise StepError(str(error)) from error
    raise StepError("there is no record")


def _leaves(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(record, Mapping):
        for key, value in list(record.items())[:50]:
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, record


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write a row for each record, each once, and all judgments."""
    said = given.parameters
    out.begin(ROWS, JUDGMENTS)
    out.line(JUDGMENTS, "item,worker,label")
    judged = _judged(said)
    read = judgments = again = 0
    seen: dict[str, dict[str, Any]] = {}
    for path, number, record in _records(given.inputs["records"]):
        read += 1
        try:
            row = mapped(record, said["map"])
            found = list(judged(record))
        except RecordFault as fault:
            raise FileFault(f"{path}: row {number}: {fault.column}: {fault}") from fault
        key = str(row.get("id") or f"{path.name} {number}")
        if key in seen and seen[key] != row:
            raise FileFault(f"{path}: row {number}: id: {key} stands in an earlier row, with other columns")
        again += key in seen
        if key not in seen:
            seen[key] = row
            out.row(ROWS, {**row, "id": key, "origin": given.origin(path, number)})
        for worker, label in found:
            out.line(JUDGMENTS, _csv(key, worker, label))
            judgments += 1
    return {"read": read, "rows": len(seen), "again": again, "judgments": judgments}


def _records(paths: list[Path] | Any) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    for path in paths:
        if path.suffix == ".parquet":
            yield from ((path, number, record) for number, record in enumerate(_parquet(path), 1))
        else:
            yield from ((path, number, record) for number, record in read_records(path, dict))


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_ONCE):
                yield from batch.to_pylist()
    except (OSError, ValueError) as error:  # pyarrow's errors are of these
        raise FileFault(f"{path}: {error}") from error


def _judged(said: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Iterator[Judgment]]:
    if said["label_studio"]:
        return partial(_of_label_studio, name=said["name"])
    if said["label"]:
        return lambda record: iter([(str(at(record, said["worker"])), _one(at(record, said["label"]), said["label"]))])
    return lambda _record: iter(())


def _of_label_studio(record: Mapping[str, Any], *, name: str | None) -> Iterator[Judgment]:
    """Yield who said what of a task: its annotations, but those that were skipped.

    References
    ----------
    https://labelstud.io/guide/export: "Raw JSON format of completed tasks".
    """
    for annotation in record.get("annotations") or ():
        if annotation.get("was_cancelled"):
            continue
        who = annotation.get("completed_by")
        who = who.get("email") or who.get("id") if isinstance(who, dict) else who
        for result in annotation.get("result") or ():
            if name in (None, result.get("from_name")) and result.get("type") in ("choices", "rating", "number"):
                yield str(who), _one(result.get("value", {}).get(result["type"]), "annotations")


def _one(label: Any, path: str) -> str:
    if isinstance(label, list):
        if len(label) != 1:
            raise RecordFault(path, "a judgment is one label, and this has several or none")
        label = label[0]
    if not isinstance(label, str | int | float) or not str(label).strip():
        raise RecordFault(path, "is no label")
    return str(label)


def _csv(*cells: str) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    mapping = ", ".join(f"{column} <- {path}" for column, path in report["parameters"]["map"].items())
    return (
        f"{report['read']:,} records read: {mapping}\n"
        f"{report['rows']:,} rows, {report['again']:,} records more about the same; {report['judgments']:,} judgments"
    )
