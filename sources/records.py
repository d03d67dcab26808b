"""Files of questions and of answers that steps read, row by row, with an error that names the row."""

from collections.abc import Iterator
from pathlib import Path

from annotation.rows import read_rows
from annotation.tasktypes.base import RowError
from documents.text_files import FileFault, LineFault, naming, text_lines
from sources.rules.questions import Question, RecordFault, question_of


def read_questions(path: Path) -> Iterator[Question]:
    """Yield the questions of a file: nfL6's array, JSON lines, or a table with a header.

    Raises
    ------
    FileFault
        It cannot be read, a row is no question, or an id stands twice.
    """
    seen: set[str] = set()
    try:
        with path.open("rb") as file:
            for number, row in read_rows(file, path.name):
                if isinstance(row, RowError):
                    raise FileFault(f"{path}: row {number}: {row.column}: {row}")
                try:
                    question = question_of(number, row)
                except RecordFault as fault:
                    raise FileFault(f"{path}: row {number}: {fault.column}: {fault}") from fault
                if question.id in seen:
                    raise FileFault(f"{path}: row {number}: id: {question.id} stands in an earlier row")
                seen.add(question.id)
                yield question
    except (OSError, ValueError) as error:
        if isinstance(error, FileFault):
            raise
        raise FileFault(f"{path}: {error}") from error


def read_collection(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of each answer of a collection, a line each, with a tab between, as ANTIQUE publishes it.

    Raises
    ------
    FileFault
        A line has other columns, or an id stands twice.
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
