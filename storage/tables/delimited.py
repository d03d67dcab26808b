"""CSV and TSV files from any program: with any usual delimiter, encoding and header."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO

from storage.lines import LineTooLong, table_lines
from storage.tables.encodings import WrongEncoding, likely_encoding
from storage.tables.faults import RowError
from storage.tables.reading import Reading, Row
from storage.tables.values import clean

csv.field_size_limit(2**24)
DELIMITERS = (",", ";", "\t", "|")
MOST_COLUMNS = 10_000
_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True, slots=True)
class Dialect:
    """The separators of a table's cells; in a TSV file, a quote is an ordinary character."""

    delimiter: str
    has_quotes: bool


def folded(name: str) -> str:
    """Return a column's name in normalized form for comparisons: ``Question ID`` and ``question_id`` are one column.

    Examples
    --------
    >>> folded(" Answer ID ")
    'answer_id'
    """
    return "_".join(clean(name).casefold().split())


def columns_of(names: Sequence[str], where: str, *, fold: bool) -> list[str]:
    """Return the names of a table's columns; columns without a name have an empty one.

    Raises
    ------
    ValueError
        A name occurs twice, or there are more columns than any real table has.
    """
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{where}: {len(names):,} columns; a table may have {MOST_COLUMNS:,}")
    columns = [folded(name) if fold else clean(name) for name in names]
    seen: dict[str, str] = {}
    for name, written in zip(columns, names, strict=True):
        if name in seen:
            raise ValueError(f"{where}: the column {name!r} stands twice (as {seen[name]!r} and {written!r})")
        if name:
            seen[name] = written
    return columns


def dialect_of(header: str, *, is_tsv: bool) -> Dialect:
    """Return the dialect of a table from its header line.

    Examples
    --------
    >>> dialect_of("id;text;mark, or so", is_tsv=False).delimiter
    ';'
    """
    usual = "\t" if is_tsv else ","
    bare = header if is_tsv and usual in header else _QUOTED.sub("", header)
    delimiter = max(DELIMITERS, key=lambda one: (bare.count(one), one == usual))
    if not bare.count(delimiter):
        delimiter = usual
    return Dialect(delimiter, has_quotes=not (is_tsv and delimiter == "\t"))


class DelimitedTable:
    """A table whose header has been read; its rows come with the number of the line in which each begins.

    Raises
    ------
    ValueError
        The file isn't text in its encoding, has a column twice, or breaks the rules of CSV.
    """

    def __init__(self, file: IO[bytes], name: str, reading: Reading, *, fold: bool, quoted: bool = False) -> None:
        self._file, self._name, self._reading, self._line = file, name, reading, 0
        self._texts = self._decoded()
        self._first = next((text for text in self._texts if not text.isspace()), "")
        if "\r" in self._first.rstrip("\r\n"):
            raise ValueError(
                f"{name}: lines end in a carriage return alone, as on old Macs: save the file with usual line ends"
            )
        mark = _SEPARATOR.fullmatch(self._first.strip("\r\n"))
        if mark:
            self._first = next(self._texts, "")
        is_tsv = name.lower().removesuffix(".gz").endswith(".tsv")
        self.dialect = dialect_of(self._first, is_tsv=is_tsv)
        if mark:
            self.dialect = Dialect(mark[1], has_quotes=self.dialect.has_quotes)
        if quoted:
            self.dialect = Dialect(self.dialect.delimiter, has_quotes=True)
        self._cells = self._split()
        self.header_line, names = next(self._cells, (1, []))
        self.columns = columns_of(names, f"{name}, line {self.header_line}", fold=fold)
        reading.columns = [column for column in self.columns if column]
        if "" in self.columns[:-1] and len(reading.columns) > 1:
            place = self.columns.index("") + 1
            reading.notes.append(f"column {place} has no name in the header and isn't read")

    def rows(self) -> Iterator[Row]:
        """Yield the line in which a row begins, and the row; missing cells at its end are None."""
        columns, width, swallowed = self.columns, len(self.columns), []
        for number, cells in self._cells:
            if not any(cell and not cell.isspace() for cell in cells):
                self._reading.blank += 1
                continue
            self._reading.rows += 1
            if len(cells) > width:
                yield number, RowError(f"the header has {width} columns, this row {len(cells)}", "line")
                continue
            if number != self._line and any("\n" in cell and self.dialect.delimiter in cell for cell in cells):
                swallowed.append(number)
            row = dict(
                zip(columns, cells if len(cells) == width else [*cells, *[None] * (width - len(cells))], strict=True)
            )
            row.pop("", None)
            yield number, row
        if swallowed:
            self._reading.notes.append(
                f"{len(swallowed):,} rows have a quoted cell with a line break and a delimiter in it; the first begins in "
                f"line {swallowed[0]:,}. If that should be several rows, a quotation mark there isn't closed"
            )

    def _split(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line in which each row begins, and its cells."""
        lines = chain([self._first], self._texts) if self._first else iter(())
        if not self.dialect.has_quotes:
            begin = self._line
            for line in lines:
                yield begin, line.rstrip("\r\n").split(self.dialect.delimiter)
                begin = self._line + 1
            return
        reader = csv.reader(lines, delimiter=self.dialect.delimiter, strict=True)
        begin = self._line
        try:
            for cells in reader:
                yield begin, cells
                begin = self._line + 1
        except csv.Error as error:
            raise ValueError(f"{self._name}, line {begin}: {_explained(error, begin, self._line)}") from error

    def _decoded(self) -> Iterator[str]:
        """Yield the lines, and count each line that is read."""
        line = b""
        try:
            for number, line in table_lines(self._file):
                self._line = number
                yield line.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{self._name}, line {self._line}: {_advised(line, error, self._file)}") from error
        except (LineTooLong, WrongEncoding) as error:
            raise ValueError(f"{self._name}: {error}") from error


def _explained(error: csv.Error, begin: int, end: int) -> str:
    """Return an explanation of the error in a row of CSV, given the lines where the row begins and reading stopped."""
    if "unexpected end" in str(error):
        return "a quotation mark that begins a cell here is closed nowhere in the file"
    if "new-line character" in str(error):
        return "a carriage return stands in a cell without quotation marks"
    if "field larger than" in str(error):
        return "a cell that begins here is larger than 16 MB; is a quotation mark not closed?"
    if "expected after" in str(error):
        where = "" if begin == end else f" (it ends in line {end})"
        return f"text follows the closing quotation mark of a cell{where}; inside a quoted cell each mark is doubled"
    return str(error)


def _advised(line: bytes, error: UnicodeDecodeError, file: IO[bytes]) -> str:
    """Return a message that a line isn't UTF-8, with the likely encoding."""
    guess = likely_encoding(line + file.read(2**16))
    likely = f"it looks like {guess}: " if guess else ""
    way_out = f"{likely}save the file as UTF-8, or name its encoding with --encoding {guess or 'NAME'}"
    return f"not valid UTF-8 (byte {error.start + 1} of the line); {way_out}"
