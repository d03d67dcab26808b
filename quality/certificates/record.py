"""The record of a risk-limiting audit: files that a stranger can check without us.

``labels.jsonl`` holds the frozen labels, one JSON object per line with ``item`` and ``label``, in the order of the items.
``certificate.jsonl`` holds an entry per line: frozen, drawn, judged …, certified or ended, signed. Each has in ``before``
the SHA-256 of the line before, so no line can be changed without all that follow. The items are judged in the order of the
SHA-256 of the seed, a line feed and the item. ``check.html`` recomputes all of it in a browser.
"""

import csv
import fcntl
import hashlib
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
from typing import Any

from measures.certificates import Claim, RiskLimitingAudit
from quality.certificates.signatures import Signer

FORMAT = "quorate-certificate-1"
SEED, HASH = re.compile(r"[0-9a-f]+"), re.compile(r"[0-9a-f]{64}")  # one spelling each: another would be another draw
SURROGATES = re.compile("[\ud800-\udfff]")  # UTF-8 can't encode them
FEWEST_PEOPLE = 2  # to draw a seed together
LABELS, RECORD, PAGE, TO_JUDGE = "labels.jsonl", "certificate.jsonl", "check.html", "to_judge.csv"
Entry = dict[str, Any]


class RecordError(ValueError):
    """A record can't be read, or it doesn't allow the next step; the message gives the reason."""


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
        frozen = self.first("frozen")
        size = frozen.get("size")
        if type(size) is not int:
            raise RecordError(f"{self.folder / RECORD}, line 1: the size isn't a whole number")
        try:
            return Claim(size, *(float(frozen[name]) for name in ("error", "risk", "guess", "weight")))
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


def in_order(seed: str, items: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return items in the order that a seed gives."""
    return sorted(items, key=lambda item: hash_of(f"{seed}\n{item}".encode()))


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def seed_of(reveals: Mapping[str, str]) -> str:
    """Return the seed that several people gave together: the hash of their texts, by name."""
    return hash_of("\n".join(f"{name}\n{reveals[name]}" for name in sorted(reveals)).encode())


def now_text() -> str:
    """Return the present time as it stands in records."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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

    Parameters
    ----------
    source
        Where the seed will come from, stated before it can be known.
    commitments
        Instead of a source: by name, the SHA-256 of a text that each of at least two people keeps to themselves. The seed
        is made of these texts, so nobody can choose it alone.

    Raises
    ------
    RecordError
        The folder isn't empty, or it isn't stated where the seed will come from.
    """
    wrong = announced_problem(source, commitments)
    if wrong:
        raise RecordError(wrong)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        if any(folder.iterdir()):
            raise RecordError(f"{folder}: this folder isn't empty; each certificate needs its own")
        data = b"".join(_line({"item": item, "label": labels[item]}) + b"\n" for item in sorted(labels))
        _write(folder / LABELS, data)
        _write(folder / PAGE, page.encode())
        entry = {"kind": "frozen", "format": FORMAT, "labels": LABELS, "sha256": hash_of(data), **asdict(claim)}
        entry["guess"] = claim.first_guess
        return _append(folder, [], [entry | {"source": source, "commitments": dict(commitments), "at": at}])


def announced_problem(source: str, commitments: Mapping[str, str]) -> str:
    """Return the problem with the stated source of a seed; empty if there is none."""
    if bool(source.strip()) is bool(commitments):
        return "the seed comes from a stated source, or from several people's texts"
    if commitments and len(commitments) < FEWEST_PEOPLE:
        return "one person's text is no draw: at least two commit themselves"
    for name, hashed in commitments.items():
        if not HASH.fullmatch(hashed):
            return f"the commitment of {name!r} isn't a SHA-256: 64 digits and letters from a to f, in lower case"
    return ""


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
        wrong = commitment_problem(record.first("frozen")["commitments"], reveals)
        if wrong:
            raise RecordError(wrong)
        if reveals and seed:
            raise RecordError("the texts make the seed: none is given besides")
        if not reveals and not SEED.fullmatch(seed):
            raise RecordError(f"the seed is {seed!r}, but must be digits and letters from a to f, in lower case")
        found = seed_of(reveals) if reveals else seed
        entry = {"kind": "drawn", "seed": found, "reveals": dict(reveals), "at": at}
        order = in_order(found, record.labels)
        table = io.StringIO(newline="")
        csv.writer(table).writerows([("number", "item"), *enumerate(order, 1)])
        _write(folder / TO_JUDGE, table.getvalue().encode())  # first: a seed is set once
        _append(folder, record.lines, [entry])
        return order


def commitment_problem(commitments: Mapping[str, str], reveals: Mapping[str, str]) -> str:
    """Return the problem with texts that people committed themselves to; empty if there is none."""
    if set(commitments) != set(reveals):
        differ = ", ".join(map(repr, sorted(set(commitments) ^ set(reveals))))
        return f"the seed needs the texts of exactly those who committed themselves: {differ}"
    for name, text in reveals.items():
        if hash_of(text.encode()) != commitments[name]:
            return f"the text of {name!r} isn't the one they committed themselves to"
    return ""


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
            added += _end(record, added, "certified", audit, signer)
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
        _append(folder, record.lines, _end(record, [], "ended", record.audit(), signer))
        return Record(folder)


def _end(record: Record, added: list[Entry], kind: str, audit: RiskLimitingAudit, signer: Signer) -> list[Entry]:
    """Return the last two entries: the result, and the signature of its hash."""
    result = {"kind": kind, "judged": audit.judged, "wrong": audit.wrong, "at": now_text()}
    before = hash_of(_chained(record.lines, [*added, result])[-1])
    return [result, {"kind": "signed", "key": signer.public, "signature": signer.signature(before.encode())}]


def _chained(lines: Sequence[bytes], entries: Sequence[Entry]) -> list[bytes]:
    found = list(lines)
    for entry in entries:
        found.append(_line({**entry, "before": hash_of(found[-1]) if found else ""}))
    return found


def _append(folder: Path, lines: Sequence[bytes], entries: Sequence[Entry]) -> str:
    """Write the record with some more entries, all or none; return the hash of its last line."""
    found = _chained(lines, entries)
    _write(folder / RECORD, b"".join(line + b"\n" for line in found))
    return hash_of(found[-1])


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


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
