"""A step from raw material towards items: files in, files and a report out, always the same for the same input.

A step is written to its own folder. Its report holds its input (parameters, seed, hashes of the files), the numbers
read, kept and dropped, and the hashes of its output; `step_again` repeats it from the report. Its id is in every row
that it writes, so that an item can be traced to the lines it came from.
"""

import glob
import hashlib
import json
import shutil
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Protocol, Self

from storage.text_files import FileFault

REPORT = "report.json"
Inputs = Mapping[str, Sequence[Path]]  # files by what they are to the step


class StepError(ValueError):
    """The reason why a step can't run; printed to the user."""


class Step(Protocol):
    """The interface of a module of `sources.steps`."""

    KEY: str
    VERSION: int  # one more whenever the same files and parameters give other rows
    HELP: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that belong to this step only."""
        ...

    def inputs(self, options: dict[str, Any]) -> dict[str, list[Path]]:
        """Return the input files."""
        ...

    def parameters(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return everything else that the step depends on, except the seed, as JSON."""
        ...

    def make(self, given: "Given", out: "Outputs") -> dict[str, Any]:
        """Read the input, write the output, and return the counts for the report."""
        ...

    def text(self, report: dict[str, Any]) -> str:
        """Return a report as text."""
        ...


class Given:
    """The input of a step."""

    def __init__(self, inputs: Inputs, parameters: Mapping[str, Any], seed: int, run: str) -> None:
        self.inputs, self.parameters, self.seed, self.run = inputs, parameters, seed, run

    def file(self, key: str) -> Path:
        """Return the only file of a kind."""
        return self.inputs[key][0]

    def origin(self, path: Path, row: int, before: Any = None) -> dict[str, Any]:
        """Return the source of a row, as stored with an item; ``before`` is the source given in the row itself."""
        return {"step": self.run, "file": path.name, "row": row} | ({"before": before} if before else {})


class Outputs:
    """The output files of a step: lines are counted and hashed as they are written."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._files = folder, ExitStack()
        self._open: dict[str, tuple[IO[bytes], Any]] = {}
        self._rows: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._files.close()

    def begin(self, *names: str) -> None:
        """Create files, which may stay empty."""
        for name in names:
            file = self._files.enter_context((self._folder / name).open("wb"))
            self._open[name], self._rows[name] = (file, hashlib.sha256()), 0

    def line(self, name: str, text: str) -> None:
        """Write a line."""
        content = f"{text}\n".encode()
        file, digest = self._open[name]
        file.write(content)
        digest.update(content)
        self._rows[name] += 1

    def row(self, name: str, row: Mapping[str, Any]) -> None:
        """Write a row as JSON."""
        try:
            self.line(name, json.dumps(row, ensure_ascii=False, allow_nan=False))
        except ValueError as error:
            raise StepError(f"a row cannot be written as JSON: {error}") from error

    def told(self) -> dict[str, dict[str, Any]]:
        """Return the number of rows and the hash of each file."""
        return {
            name: {"rows": self._rows[name], "sha256": digest.hexdigest()} for name, (_, digest) in self._open.items()
        }


def step_make(
    step: Step, *, inputs: Inputs, parameters: dict[str, Any], seed: int, to: Path, expected: Any = None
) -> tuple[dict[str, Any], bool]:
    """Run a step in a folder; return its report, and whether it ran now.

    If the folder already holds the same step, nothing is done. A failing step leaves no files behind.

    Raises
    ------
    StepError
        The folder holds something else, an input file is invalid (file and line are named), or the output differs from
        the expected files.
    """
    try:
        known = {key: [_hashed(path) for path in paths] for key, paths in inputs.items()}
        about = {"step": step.KEY, "version": step.VERSION, "parameters": parameters, "seed": seed, "inputs": known}
        run = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        if to.exists():
            return _same(to, run), False
        to.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
        try:
            with Outputs(beside) as out:
                counts = step.make(Given(inputs, parameters, seed, run), out)
            if expected not in (None, out.told()):
                raise StepError("other rows came out than then")
            report = {"run": run, **about, **counts, "outputs": out.told()}
            (beside / REPORT).write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            beside.chmod(0o755)
            beside.rename(to)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except (FileFault, OSError, UnicodeError) as error:
        raise StepError(str(error)) from error
    return report, True


def _hashed(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise StepError(f"{path}: isn't a file")
    with path.open("rb") as file:
        return {"name": path.name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _same(folder: Path, run: str) -> dict[str, Any]:
    report = read_report(folder)
    if report["run"] != run:
        raise StepError(f"{folder}: holds another step, or the same with other files, parameters or another seed")
    for name, told in report["outputs"].items():
        if _hashed(folder / Path(name).name)["sha256"] != told["sha256"]:
            raise StepError(f"{folder / name}: has changed since the step was made")
    return report


def read_report(folder: Path) -> dict[str, Any]:
    """Return the report of a folder.

    Raises
    ------
    StepError
    """
    try:
        report = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise StepError(f"{folder}: is there, and holds no step that can be read: {error}") from error
    if not _is_report(report):
        raise StepError(f"{folder / REPORT}: isn't the report of a step")
    return report  # type: ignore[no-any-return]


def _is_report(report: Any) -> bool:
    needed = {"run": str, "step": str, "version": int, "parameters": dict, "seed": int, "inputs": dict, "outputs": dict}
    return (
        isinstance(report, dict)
        and all(isinstance(report.get(key), kind) for key, kind in needed.items())
        and all(
            isinstance(known, list)
            and all(isinstance(one, dict) and isinstance(one.get("name"), str) and "sha256" in one for one in known)
            for known in report["inputs"].values()
        )
        and all(isinstance(told, dict) and "sha256" in told for told in report["outputs"].values())
    )


def step_again(step: Step, *, report: dict[str, Any], files: Path, to: Path) -> dict[str, Any]:
    """Repeat a step from its report and its input files.

    The files can be anywhere in a folder: they are recognized by name and hash.

    Raises
    ------
    StepError
        A file is missing or differs, the step has changed since, or it gives other rows.
    """
    if report["version"] != step.VERSION:
        raise StepError(f"{step.KEY} is at version {step.VERSION}, and the report of version {report['version']}")
    if to.exists():
        raise StepError(f"{to}: is there already")
    inputs = {key: [_found(one, files) for one in known] for key, known in report["inputs"].items()}
    try:
        found, _is_new = step_make(
            step, inputs=inputs, parameters=report["parameters"], seed=report["seed"], to=to, expected=report["outputs"]
        )
    except StepError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise StepError(f"the report isn't a report of the step {step.KEY}: {error!r}") from error
    return found


def _found(known: dict[str, Any], files: Path) -> Path:
    name = Path(known["name"]).name
    paths = sorted(path for path in files.resolve().rglob(glob.escape(name)) if path.is_file()) if name else []
    for path in paths:
        if _hashed(path)["sha256"] == known["sha256"]:
            return path
    if paths:
        raise StepError(f"{paths[0]}: is not the file that was read then: its sha256 is another")
    raise StepError(f"{files}: holds no file called {name}")
