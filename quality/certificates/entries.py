"""The entries of a certificate's record: what each holds, and how the chain of their hashes is made.

An entry is a line of JSON: frozen, drawn, judged …, certified or ended, signed. Each has in ``before`` the SHA-256 of the
line before, so no line can be changed without all that follow. Items are judged in the order of the SHA-256 of the seed, a
line feed and the item.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from measures.certificates import Claim, RiskLimitingAudit
from quality.certificates.signatures import Signer

FORMAT = "quorate-certificate-1"
SEED, HASH = re.compile(r"[0-9a-f]+"), re.compile(r"[0-9a-f]{64}")  # one spelling each: another would be another draw
FEWEST_PEOPLE = 2  # to draw a seed together
LABELS, RECORD, PAGE = "labels.jsonl", "certificate.jsonl", "check.html"
Entry = dict[str, Any]


class RecordError(ValueError):
    """A record can't be read, or it doesn't allow the next step; the message gives the reason."""


def frozen(*, claim: Claim, sha256: str, source: str, commitments: Mapping[str, str], at: str) -> Entry:
    """Return the first entry.

    Parameters
    ----------
    sha256
        The hash of the file of labels.
    source
        Where the seed will come from, stated before it can be known.
    commitments
        Instead of a source: by name, the SHA-256 of a text that each of at least two people keeps to themselves. The seed
        is made of these texts, so nobody can choose it alone.

    Raises
    ------
    RecordError
        It isn't stated where the seed will come from.
    """
    wrong = announced_problem(source, commitments)
    if wrong:
        raise RecordError(wrong)
    entry = {"kind": "frozen", "format": FORMAT, "labels": LABELS, "sha256": sha256, **asdict(claim)}
    return entry | {"guess": claim.first_guess, "source": source, "commitments": dict(commitments), "at": at}


def drawn(*, commitments: Mapping[str, str], seed: str, reveals: Mapping[str, str], at: str) -> Entry:
    """Return the entry of the seed, which is given or made of the revealed texts.

    Raises
    ------
    RecordError
        The seed isn't spelled as seeds are, or it isn't made of the texts that people committed themselves to.
    """
    wrong = commitment_problem(commitments, reveals)
    if wrong:
        raise RecordError(wrong)
    if reveals and seed:
        raise RecordError("the texts make the seed: none is given besides")
    if not reveals and not SEED.fullmatch(seed):
        raise RecordError(f"the seed is {seed!r}, but must be digits and letters from a to f, in lower case")
    return {"kind": "drawn", "seed": seed_of(reveals) if reveals else seed, "reveals": dict(reveals), "at": at}


def ending(lines: Sequence[bytes], kind: str, audit: RiskLimitingAudit, *, at: str, signer: Signer) -> list[Entry]:
    """Return the last two entries, after these lines: the result, and the signature of its hash."""
    result = {"kind": kind, "judged": audit.judged, "wrong": audit.wrong, "at": at}
    before = hash_of(chained(lines, [result])[-1])
    return [result, {"kind": "signed", "key": signer.public, "signature": signer.signature(before.encode())}]


def text_at(at: datetime) -> str:
    """Return a time as it stands in records: UTC, in seconds."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def chained(lines: Sequence[bytes], entries: Iterable[Entry]) -> list[bytes]:
    """Return the lines and those of further entries, each with the hash of the line before it."""
    found = list(lines)
    for entry in entries:
        found.append(line_of({**entry, "before": hash_of(found[-1]) if found else ""}))
    return found


def line_of(value: Mapping[str, Any]) -> bytes:
    """Return the line of an entry or of a label, without its end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def place_of(seed: str, item: str) -> str:
    """Return the hash by which an item has its place in the order of judgment."""
    return hash_of(f"{seed}\n{item}".encode())


def in_order(seed: str, items: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return items in the order that a seed gives."""
    return sorted(items, key=lambda item: place_of(seed, item))


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def seed_of(reveals: Mapping[str, str]) -> str:
    """Return the seed that several people gave together: the hash of their texts, by name."""
    return hash_of("\n".join(f"{name}\n{reveals[name]}" for name in sorted(reveals)).encode())


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


def commitment_problem(commitments: Mapping[str, str], reveals: Mapping[str, str]) -> str:
    """Return the problem with texts that people committed themselves to; empty if there is none."""
    if set(commitments) != set(reveals):
        differ = ", ".join(map(repr, sorted(set(commitments) ^ set(reveals))))
        return f"the seed needs the texts of exactly those who committed themselves: {differ}"
    for name, text in reveals.items():
        if hash_of(text.encode()) != commitments[name]:
            return f"the text of {name!r} isn't the one they committed themselves to"
    return ""
