"""The record of a risk-limiting audit in a folder: files that a stranger can check without us.

``labels.jsonl`` holds the frozen labels, one JSON object per line with ``item`` and ``label``, in the order of the items.
``certificate.jsonl`` holds an entry per line (`quality.certificates.entries`). ``check.html`` recomputes all of it in a
browser.
"""

import csv
import fcntl
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from measures.certificates import Claim, RiskLimitingAudit
from quality.certificates.entries import (
    LABELS,
    PAGE,
    RECORD,
    Entry,
    RecordError,
    chained,
    drawn,
    ending,
    frozen,
    hash_of,
    in_order,
    line_of,
    text_at,
)
from quality.certificates.signatures import Signer

SURROGATES = re.compile("[\ud800-\udfff]")  # UTF-8 can't encode them
TO_JUDGE = "to_judge.csv"


@dataclass(frozen=True)
class Judged:
    """An expert's judgment of an item."""

    item: str
    label: str
    expert: str
    at: str


class Record:
    """A record in a folder, as far as it goes.

    Raises
    ------
    RecordError
        A file is missing or can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines = _lines(folder / RECORD)
        self.entries = [_object(folder / RECORD, number, line) for number, line in enumerate(self.lines, 1)]

    @cached_property
    def labels(self) -> dict[str, str]:
        """The frozen labels, by item."""
        path, found = self.folder / LABELS, dict[str, str]()
        for number, line in enumerate(_lines(path), 1):
            row = _object(path, number, line)
            item, label = row.get("item"), row.get("label")
            if (
                not (isinstance(item, str) and isinstance(label, str))
                or item in found
                or SURROGATES.search(item + label)
            ):
                raise RecordError(f"{path}, line {number}: needs a new item and its label, both text")
            found[item] = label
        return found

    @property
    def claim(self) -> Claim:
        """The claim that was frozen with the labels."""
        terms = self.first("frozen")
        size = terms.get("size")
        if type(size) is not int:
            raise RecordError(f"{self.folder / RECORD}, line 1: the size isn't a whole number")
        try:
            return Claim(size, *(float(terms[name]) for name in ("error", "risk", "guess", "weight")))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RecordError(f"{self.folder / RECORD}, line 1: {error}") from error

    def first(self, kind: str) -> Entry:
        """Return the first entry of a kind; raise `RecordError` if there is none."""
        for entry in self.entries:
            if entry.get("kind") == kind:
                return entry
        told = "the seed isn't drawn yet" if kind == "drawn" else f"no entry is {kind!r}"
        raise RecordError(f"{self.folder / RECORD}: {told}")

    def has(self, kind: str) -> bool:
        """Return whether an entry is of this kind."""
        return any(entry.get("kind") == kind for entry in self.entries)

    def judged(self) -> list[Entry]:
        """Return the judgments, in order."""
        return [entry for entry in self.entries if entry.get("kind") == "judged"]

    def order(self) -> list[str]:
        """Return the items in the order in which they are judged."""
        return in_order(self.first("drawn")["seed"], self.labels)

    def audit(self) -> RiskLimitingAudit:
        """Return the audit after all judgments."""
        audit = RiskLimitingAudit(self.claim)
        for entry in self.judged():
            audit.add(is_wrong=entry["label"] != self.labels[entry["item"]])
        return audit

    @property
    def published(self) -> str:
        """The hash of the first line, which stands for labels, terms, and the source of the seed."""
        return hash_of(self.lines[0])


def now_text() -> str:
    """Return the present time as it stands in records."""
    return text_at(datetime.now(UTC))


def freeze(
    folder: Path,
    labels: Mapping[str, str],
    *,
    claim: Claim,
    source: str,
    commitments: Mapping[str, str],
    page: str,
    at: str,
) -> str:
    """Write the labels and the first entry of a record; return its hash, to publish before the seed is drawn.

    Raises
    ------
    RecordError
        The folder isn't empty, or it isn't stated where the seed will come from.
    """
    data = b"".join(line_of({"item": item, "label": labels[item]}) + b"\n" for item in sorted(labels))
    entry = frozen(claim=claim, sha256=hash_of(data), source=source, commitments=commitments, at=at)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        if any(folder.iterdir()):
            raise RecordError(f"{folder}: this folder isn't empty; each certificate needs its own")
        _write(folder / LABELS, data)
        _write(folder / PAGE, page.encode())
        return _append(folder, [], [entry])


def draw(folder: Path, *, seed: str, reveals: Mapping[str, str], at: str) -> list[str]:
    """Set the seed and write the table to judge; return the items in the order of judgment.

    Raises
    ------
    RecordError
        The seed is set already, or it isn't made of the texts that people committed themselves to.
    """
    with _locked(folder):
        record = Record(folder)
        if record.has("drawn"):
            raise RecordError(f"{folder / RECORD}: the seed is set already, and can't be changed")
        entry = drawn(commitments=record.first("frozen")["commitments"], seed=seed, reveals=reveals, at=at)
        order = in_order(entry["seed"], record.labels)
        table = io.StringIO(newline="")
        csv.writer(table).writerows([("number", "item"), *enumerate(order, 1)])
        _write(folder / TO_JUDGE, table.getvalue().encode())  # first: a seed is set once
        _append(folder, record.lines, [entry])
        return order


def judge(folder: Path, judged: Sequence[Judged], *, signer: Signer) -> Record:
    """Add judgments of the next items in the order, until the certificate is reached; return the record.

    Raises
    ------
    RecordError
        The record has ended, an item isn't among the labels or was judged before, a time is before the draw, or an item
        before it wasn't judged: people who could leave items out could choose the result.
    """
    with _locked(folder):
        record = Record(folder)
        if record.has("certified") or record.has("ended"):
            raise RecordError(f"{folder / RECORD}: this audit has ended")
        order, audit, known = record.order(), record.audit(), {entry["item"] for entry in record.judged()}
        given, drawn_at = {one.item: one for one in judged}, record.first("drawn")["at"]
        for item, one in given.items():
            if item not in record.labels:
                raise RecordError(f"{item!r} has no frozen label")
            if item in known:
                raise RecordError(f"{item!r} was judged before")
            if not drawn_at <= one.at <= now_text():
                raise RecordError(f"{item!r} was judged at {one.at}, before the draw at {drawn_at} or in the future")
        added = list[Entry]()
        for number, item in enumerate(order[audit.judged :], audit.judged + 1):
            if item not in given or audit.is_certified:
                break
            one = given.pop(item)
            audit.add(is_wrong=one.label != record.labels[item])
            added.append({"kind": "judged", "number": number, **asdict(one)})
        if given and not audit.is_certified:
            missing = order[audit.judged]
            raise RecordError(f"{missing!r} comes before {next(iter(given))!r} in the order, and has no judgment")
        if audit.is_certified:
            added += ending(chained(record.lines, added), "certified", audit, at=now_text(), signer=signer)
        _append(folder, record.lines, added)
        return Record(folder)


def end(folder: Path, *, signer: Signer) -> Record:
    """End an audit without a certificate, and sign it.

    Raises
    ------
    RecordError
        It has ended already, or nothing was drawn.
    """
    with _locked(folder):
        record = Record(folder)
        if record.has("certified") or record.has("ended"):
            raise RecordError(f"{folder / RECORD}: this audit has ended")
        record.first("drawn")
        _append(folder, record.lines, ending(record.lines, "ended", record.audit(), at=now_text(), signer=signer))
        return Record(folder)


def _append(folder: Path, lines: Sequence[bytes], entries: Sequence[Entry]) -> str:
    """Write the record with some more entries, all or none; return the hash of its last line."""
    found = chained(lines, entries)
    _write(folder / RECORD, b"".join(line + b"\n" for line in found))
    return hash_of(found[-1])


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lines(path: Path) -> list[bytes]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    lines = data.split(b"\n")
    if len(lines) < 2 or lines.pop():
        raise RecordError(f"{path}: is empty, or its last line has no end")
    return lines


def _object(path: Path, number: int, line: bytes) -> Entry:
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}, line {number}: is not JSON") from error
    if not isinstance(found, dict):
        raise RecordError(f"{path}, line {number}: is not a JSON object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
