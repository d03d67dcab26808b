"""Files of questions and answers that steps read row by row; errors name the row."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sources.rules.faults import RecordFault
from sources.rules.questions import Question, question_of
from storage.tables.faults import RowError
from storage.tables.rows import read_rows
from storage.text_files import FileFault, LineFault, naming, text_lines

T = TypeVar("T")


def read_records(
    path: Path,
    of: Callable[[Mapping[str, Any]], T],
    *,
    encoding: str | None = None,
    fold: bool = True,
    quoted: bool = False,
) -> Iterator[tuple[int, T]]:
    """Yield the number of each row of a file, and the result of a function, which can raise `RecordFault`.

    ``encoding``, ``fold`` and ``quoted`` are those of `read_rows`.

    Raises
    ------
    FileFault
        The file can't be read, or a row isn't in the expected form.
    """
    try:
        with path.open("rb") as file:
            for number, row in read_rows(file, path.name, encoding=encoding, fold=fold, quoted=quoted):
                yield number, _made(path, number, row, of)
    except FileFault:
        raise
    except (OSError, ValueError) as error:
        raise FileFault(f"{path}: {error}") from error


@contextmanager
def naming_row(path: Path, number: int) -> Iterator[None]:
    """Convert a `RecordFault` to a `FileFault` that names file, row and column."""
    try:
        yield
    except RecordFault as fault:
        raise FileFault(f"{path}: row {number}: {fault.column}: {fault}") from fault


def _made(path: Path, number: int, row: Mapping[str, Any] | RowError, of: Callable[[Mapping[str, Any]], T]) -> T:
    if isinstance(row, RowError):
        raise FileFault(f"{path}: row {number}: {row.column}: {row}")
    with naming_row(path, number):
        return of(row)


def read_questions(path: Path) -> Iterator[Question]:
    """Yield the questions of a file: nfL6's array, JSON lines, or a table with a header.

    Raises
    ------
    FileFault
        The file can't be read, a row isn't a question, or an id occurs twice.
    """
    seen: set[str] = set()
    for number, (key, record) in read_records(path, question_of):
        if key in seen:
            raise FileFault(f"{path}: row {number}: id: {key} stands in an earlier row")
        seen.add(key)
        yield Question(number, key, record)


def read_collection(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of each answer of a collection: one line each, separated by a tab, as ANTIQUE publishes it.

    Raises
    ------
    FileFault
        A line has other columns, or an id occurs twice.
    """
    seen: set[str] = set()
    for number, line in text_lines(path):
        with naming(path, number):
            parts = line.split("\t")
            if len(parts) != 2:
                raise LineFault(f"expected id and text with a tab between, found {len(parts)} columns")
            if parts[0].split() != [parts[0]]:
                raise LineFault("an id is one word: runs are read by their blanks")
            if parts[0] in seen:
                raise LineFault(f"the id {parts[0]} stands in an earlier line")
            seen.add(parts[0])
            yield parts[0], parts[1]
