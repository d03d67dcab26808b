"""``source elsewhere``: converts other tools' records to rows for import, and their judgments to a table."""

import csv
import io
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sources.records import naming_row, read_records
from sources.rules.faults import RecordFault
from sources.rules.mapping import at, mapped, pairs_of
from sources.rules.tools.registry import TOOLS
from sources.rules.tools.tool import GivenLabel
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import named_apart
from storage.tables.values import clean, text_of
from storage.text_files import text_lines

KEY, VERSION = "elsewhere", 2
HELP = (
    "Convert the records of other tools to rows to import, column by column. Also writes a table of their "
    "judgments and one of known answers. Reads the exports of annotation tools and marketplaces (--from) and "
    "any table (CSV, TSV, Excel, Parquet, JSON lines), such as the files of a Hugging Face datasets folder."
)
ROWS, JUDGMENTS, TRUTH = "rows.jsonl", "judgments.csv", "truth.csv"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="JSON, JSON lines, CSV, TSV, Excel or Parquet"
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=PATH",
        help="column to fill and the part of the record to fill it from, such as question=data.text; repeatable",
    )
    parser.add_argument("--from", dest="tool", choices=sorted(TOOLS), help="tool that the files were exported from")
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="with --from: question whose answers are imported, if the export has several",
    )
    parser.add_argument("--worker", metavar="PATH", help="part of the record that names the annotator")
    parser.add_argument("--label", metavar="PATH", help="part of the record that contains the label")
    parser.add_argument("--pseudonyms", action="store_true", help="invent an annotator for each annotation without one")
    parser.add_argument(
        "--encoding", metavar="NAME", help="encoding of CSV and TSV files that aren't UTF-8, such as gb18030"
    )
    parser.add_argument("--show", action="store_true", help="show the mapping on the first record, and write nothing")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files, after a check that their names differ."""
    return {"records": named_apart(options["files"], "files")}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping, and the location of judgments.

    Raises
    ------
    StepError
    """
    try:
        paths = pairs_of(options["map"])
    except ValueError as error:
        raise StepError(f"--map: {error}") from error
    if not paths and not options["tool"]:
        raise StepError("say with --map which part of a record becomes which column; --show shows a record")
    if bool(options["label"]) != bool(options["worker"]) or (options["tool"] and options["label"]):
        raise StepError("judgments have --worker and --label, or are those of a tool (--from)")
    return {
        "map": paths,
        **{name: options[name] for name in ("tool", "name", "worker", "label", "pseudonyms", "encoding")},
    }


def show(options: dict[str, Any]) -> str:
    """Return the first record, and its conversion.

    Raises
    ------
    StepError
    """
    try:
        paths = pairs_of(options["map"])
        for path, number, record in _records(options["files"], options):
            with naming_row(path, number):
                shown = _said_shown(record, options, path)
            keys = [f"  {name}: {str(value)[:60]!r}" for name, value in _leaves(record)]
            lines = [f"  {column} <- {place}: {str(at(record, place))[:60]!r}" for column, place in paths.items()]
            return "\n".join(
                [
                    "the first record holds",
                    *keys,
                    "of which are made",
                    *(lines or ["  nothing yet: say --map COLUMN=PATH"]),
                    *shown,
                ]
            )
    except RecordFault as fault:
        raise StepError(f"{fault.column}: {fault}") from fault
    except RecursionError:
        raise StepError("the first record nests too deeply to be shown") from None
    except ValueError as error:
        raise StepError(str(error)) from error
    raise StepError("there is no record")


def _said_shown(record: Mapping[str, Any], options: dict[str, Any], path: Path) -> list[str]:
    """Return the labels in the first record of a tool, and the questions that it answers."""
    if not options["tool"]:
        return []
    passed: Counter[str] = Counter()
    found = list(_judged(record, options, passed, path))
    said = [f"  {'known answer' if one.is_truth else one.worker or 'nobody'}: {one.label}" for one in found]
    names = ", ".join(dict.fromkeys(TOOLS[options["tool"]].names_of(record))) or "none"
    over = [f"  passed over: {count} {kind}" for kind, count in passed.items()]
    return [f"and which says, of the questions {names}", *(said or ["  nothing"]), *over]


def _leaves(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(record, Mapping):
        for key, value in list(record.items())[:50]:
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, record


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write one row per record, without repetitions, all judgments, and the known answers."""
    said, files = given.parameters, given.inputs["records"]
    if said["tool"] and said["name"] is None:
        _refuse_several(files, said)
    taken = _Taken(said, out)
    for path, number, record in _records(files, said):
        with naming_row(path, number):
            taken.add(record, path, number, given.origin(path, number))
    return taken.report()


class _Taken:
    """The conversion of the records so far."""

    def __init__(self, said: Mapping[str, Any], out: Outputs) -> None:
        self._said, self._out = said, out
        self._counts: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._rows: dict[str, dict[str, Any]] = {}
        self._truths: dict[str, str] = {}
        out.begin(ROWS, JUDGMENTS, TRUTH)
        out.line(JUDGMENTS, "item,worker,label")
        out.line(TRUTH, "item,truth")

    def add(self, record: Mapping[str, Any], path: Path, number: int, origin: Any) -> None:
        """Write the content of a record; without an id, its position becomes its name."""
        self._counts["read"] += 1
        row = mapped(record, self._said["map"])
        found = list(_judged(record, self._said, self._passed, path))
        key = self._key(record, row) or f"{path.name} {number}"
        if key not in self._rows:
            self._rows[key] = row
            self._out.row(ROWS, {**row, "id": key, "origin": origin})
        elif self._rows[key] == row:
            self._counts["again"] += 1
        else:
            raise RecordFault("id", f"{key} stands in an earlier row, with other columns")
        for one in found:
            if one.is_truth:
                self._truth(key, one.label)
            else:
                self._judgment(key, one)

    def _key(self, record: Mapping[str, Any], row: Mapping[str, Any]) -> str:
        ids = TOOLS[self._said["tool"]].ids if self._said["tool"] else ()
        texts = [row.get("id"), *(record.get(name) for name in ids)]
        return next((found for found in map(clean, map(text_of, texts)) if found), "")

    def report(self) -> dict[str, Any]:
        """Return the counts."""
        counts = {name: self._counts[name] for name in ("read", "again", "judgments", "pseudonyms")}
        return {**counts, "rows": len(self._rows), "truths": len(self._truths), "passed_over": dict(self._passed)}

    def _truth(self, key: str, label: str) -> None:
        if key not in self._truths:
            self._out.line(TRUTH, _csv(key, label))
        if self._truths.setdefault(key, label) != label:
            raise RecordFault("ground_truth", f"{label!r}, but {self._truths[key]!r} before")

    def _judgment(self, key: str, one: GivenLabel) -> None:
        worker = one.worker
        if not worker:
            if not self._said["pseudonyms"]:
                raise RecordFault(
                    "annotations", "names nobody who made it; --pseudonyms gives each such annotation one"
                )
            self._counts["pseudonyms"] += 1
            worker = f"unnamed-{self._counts['pseudonyms']}"
        self._counts["judgments"] += 1
        self._out.line(JUDGMENTS, _csv(key, worker, one.label))


def _refuse_several(files: list[Path] | Any, said: Mapping[str, Any]) -> None:
    """Refuse an export with several questions if the user named none."""
    names: dict[str, None] = {}
    for path, number, record in _records(files, said):
        with naming_row(path, number), _in_form(said["tool"]):
            names |= dict.fromkeys(TOOLS[said["tool"]].names_of(record))
    if len(names) > 1:
        raise StepError(f"choose one of these with --name: {', '.join(names)}")


@contextmanager
def _in_form(tool: str) -> Iterator[None]:
    """Convert errors from a record that isn't in the tool's form to a `RecordFault`."""
    try:
        yield
    except RecordFault:
        raise
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        raise RecordFault("record", f"isn't in the form of {tool}") from error


def _records(paths: list[Path] | Any, said: Mapping[str, Any]) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    tool = TOOLS[said["tool"]] if said["tool"] else None
    for path in paths:
        if tool and tool.record_of:
            for number, line in text_lines(path):
                with naming_row(path, number):
                    record = tool.record_of(line)
                yield path, number, record
        else:
            rows = read_records(path, dict, encoding=said["encoding"], fold=False, quoted=bool(tool and tool.quoted))
            yield from ((path, number, record) for number, record in rows)


def _judged(
    record: Mapping[str, Any], said: Mapping[str, Any], passed: Counter[str], path: Path
) -> Iterator[GivenLabel]:
    if said["tool"]:
        stem = path.name.partition(".")[0]
        file = (
            path.parent.name if stem == "annotated_instances" else stem
        )  # Potato's files have their annotator's folder
        with _in_form(said["tool"]):
            yield from TOOLS[said["tool"]].labels_of(record, said["name"], passed, file)
    elif said["label"]:
        label = _one(at(record, said["label"]), said["label"])
        yield GivenLabel(clean(text_of(at(record, said["worker"]))), label, is_truth=False)


def _one(label: Any, path: str) -> str:
    if isinstance(label, list):
        if len(label) != 1:
            raise RecordFault(path, "a judgment is one label, and this has several or none")
        label = label[0]
    if not isinstance(label, str | int | float) or not text_of(label).strip():
        raise RecordFault(path, "isn't a label")
    return text_of(label)


def _csv(*cells: str) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    mapping = ", ".join(f"{column} <- {path}" for column, path in report["parameters"]["map"].items()) or "no columns"
    lines = [
        f"{report['read']:,} records read: {mapping}",
        f"{report['rows']:,} rows, {report['again']:,} records more about the same",
        f"{report['judgments']:,} judgments, {report['truths']:,} known answers",
    ]
    if report["pseudonyms"]:
        lines.append(f"{report['pseudonyms']:,} judgments by annotators without a name: each has a pseudonym")
    if report["passed_over"]:
        lines.append("passed over: " + ", ".join(f"{count:,} {kind}" for kind, count in report["passed_over"].items()))
    return "\n".join(lines)
