"""Recompute everything in the record of an audit, from its folder alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from measures.certificates import RiskLimitingAudit, interval
from quality.certificates.entries import (
    FORMAT,
    LABELS,
    RECORD,
    SEED,
    RecordError,
    announced_problem,
    commitment_problem,
    hash_of,
    seed_of,
)
from quality.certificates.record import Record
from quality.certificates.signatures import is_signed

STEPS = ("frozen", "drawn", "judged", "certified", "ended", "signed")  # in this order; the fourth or the fifth


@dataclass(frozen=True)
class State:
    """The progress of an audit: ``outcome`` is certified, ended, or open; the bounds are a 95% confidence sequence's."""

    size: int
    error: float
    risk: float
    judged: int
    wrong: int
    outcome: str
    low: float
    high: float
    published: str
    key: str


def state_of(record: Record) -> State:
    """Return the progress of an audit."""
    claim, judged = record.claim, record.judged()
    said = [entry["label"] != record.labels[entry["item"]] for entry in judged]
    outcome = next((kind for kind in ("certified", "ended") if record.has(kind)), "open")
    low, high = interval(said, claim.size)
    key = record.first("signed")["key"] if record.has("signed") else ""
    return State(claim.size, claim.error, claim.risk, len(said), sum(said), outcome, low, high, record.published, key)


def problems(record: Record) -> Iterator[tuple[str, str]]:
    """Yield pairs of a place and a problem; a record without problems proves what it says."""
    try:
        yield from _problems(record)
    except RecordError as error:
        yield RECORD, str(error)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        yield RECORD, f"an entry lacks something or has something unexpected: {error!r}"


def _problems(record: Record) -> Iterator[tuple[str, str]]:
    yield from _of_lines(record)
    frozen = record.first("frozen")
    if frozen["format"] != FORMAT:
        yield "line 1", f"the format isn't {FORMAT}"
    if hash_of((record.folder / LABELS).read_bytes()) != frozen["sha256"]:
        yield LABELS, "was changed: its SHA-256 isn't the one that was frozen"
    if len(record.labels) != record.claim.size:
        yield LABELS, f"holds {len(record.labels):,} labels, and {record.claim.size:,} were frozen"
    wrong = announced_problem(frozen["source"], frozen["commitments"])
    if wrong:
        yield "line 1", wrong
    if len(record.entries) > 1:
        yield from _of_seed(frozen, record.first("drawn"))
        yield from _of_judgments(record)
    yield from _of_signature(record)


def _of_lines(record: Record) -> Iterator[tuple[str, str]]:
    """Check the chain, the order of the entries, and their times."""
    hashes = ["", *map(hash_of, record.lines)]
    for number, (entry, before) in enumerate(zip(record.entries, hashes, strict=False), 1):
        if entry.get("before") != before:
            yield f"line {number}", "doesn't follow the line before: one of both was changed"
    kinds = [entry.get("kind") for entry in record.entries]
    places = [STEPS.index(kind) if kind in STEPS else -1 for kind in kinds]
    once = [kind for kind in kinds if kind != "judged"]
    if -1 in places or places != sorted(places) or len(set(once)) < len(once) or kinds[:1] != ["frozen"]:
        yield RECORD, "the entries aren't in the order frozen, drawn, judged, result, signed"
    if ("certified" in kinds) + ("ended" in kinds) > 1 or ("signed" in kinds) != bool(
        {"certified", "ended"} & set(kinds)
    ):
        yield RECORD, "a result and its signature belong together, once"
    yield from _of_times(record.entries)


def _of_times(entries: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Check that the seed came after the labels, judgments after the seed, and the result last.

    Experts work side by side, so judgments have no order in time.
    """
    latest = reached = ""
    for number, entry in enumerate(entries, 1):
        at = entry.get("at", "")
        earliest = reached if entry["kind"] == "judged" else latest
        if at and at < earliest:
            yield f"line {number}", f"its time {at!r} is before {earliest!r}"
        latest = max(latest, at)
        reached = reached if entry["kind"] == "judged" else latest


def _of_seed(frozen: dict[str, Any], drawn: dict[str, Any]) -> Iterator[tuple[str, str]]:
    wrong = commitment_problem(frozen["commitments"], drawn["reveals"])
    if wrong:
        yield "line 2", wrong
    elif drawn["reveals"] and seed_of(drawn["reveals"]) != drawn["seed"]:
        yield "line 2", "the seed isn't made of the texts of those who committed themselves"
    elif not SEED.fullmatch(drawn["seed"]):
        yield "line 2", "the seed isn't digits and letters from a to f, in lower case"


def _of_judgments(record: Record) -> Iterator[tuple[str, str]]:
    """Check the order, and that the result is the one that the judgments give at this moment."""
    order, audit = record.order(), RiskLimitingAudit(record.claim)
    for number, entry in enumerate(record.entries, 1):
        if entry["kind"] != "judged":
            continue
        if audit.judged >= len(order) or (entry["item"], entry["number"]) != (order[audit.judged], audit.judged + 1):
            yield f"line {number}", "isn't the next item in the order that the seed gives"
            return
        if audit.is_certified:
            yield f"line {number}", "was judged after the certificate"
            return
        if not isinstance(entry["label"], str):
            yield f"line {number}", "has no label"
        audit.add(is_wrong=entry["label"] != record.labels[entry["item"]])
    for kind in ("certified", "ended"):
        if record.has(kind):
            result = record.first(kind)
            if (result["judged"], result["wrong"]) != (audit.judged, audit.wrong):
                yield (
                    RECORD,
                    f"the judgments are {audit.judged} with {audit.wrong} wrong labels, not as the result says",
                )
            if (kind == "certified") is not audit.is_certified:
                yield RECORD, "the judgments " + ("don't give" if kind == "certified" else "give") + " a certificate"


def _of_signature(record: Record) -> Iterator[tuple[str, str]]:
    if record.has("signed"):
        signed = record.first("signed")
        if not is_signed(signed["before"].encode(), signed["signature"], signed["key"]):
            yield RECORD, "the signature isn't one of the line before it by this key"
