"""``manage.py certify``: a certificate that at most a stated share of labels is wrong, for any table of labels."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from measures.certificates import Claim, effort
from measures.judgment_files import JudgmentFileError, labels_read
from quality.certificates.checks import problems, state_of
from quality.certificates.entries import RecordError, text_at
from quality.certificates.record import TO_JUDGE, Judged, Record, draw, end, freeze, judge, now_text
from quality.certificates.signatures import Signer
from storage.json_output import json_line
from storage.tables.values import Spelling

PAGE = Path(__file__).parents[2] / "certificates/check.html"
GUESSES = (0.0, 0.2, 0.4, 0.6, 0.8)  # of the stated error


class Command(ReadingCommand):
    """Freeze, draw, judge, and certify."""

    help = (
        "Certify that at most a stated share of labels is wrong, at a stated risk, for any table of labels: of a "
        "campaign, of another platform, or of a system. plan says how many judgments that takes. freeze fixes "
        "labels, terms, and the source of the seed, and prints a hash to publish. draw takes the seed, such as the "
        "value of a public beacon, and writes the order of judgment. judge adds experts' judgments until the "
        "certificate is reached. status says how far it is, and end gives up. Everything is in one folder, which "
        "anyone can check with its page check.html or with release_verify --certificate. No database is needed. "
        "Example: manage.py certify freeze labels.csv --source 'drand quicknet, round 4711000' --to out/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the steps and their arguments."""
        steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
        one = steps.add_parser("freeze", help="fix labels and terms")
        one.add_argument("labels", type=Path, metavar="FILE", help="table with the columns item and label")
        one.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder of the certificate")
        _add_claim(one)
        one.add_argument("--source", default="", help="where the seed will come from: a value that nobody knows yet")
        one.add_argument(
            "--commit",
            action="append",
            default=[],
            metavar="NAME=SHA256",
            help="instead of a source: the hash of a text that this person reveals at the draw; at least two people",
        )
        one.add_argument("--encoding", metavar="NAME", help="encoding of a CSV or TSV file that isn't UTF-8")
        two = steps.add_parser("draw", help="set the seed and write the order of judgment")
        two.add_argument("folder", type=Path, metavar="DIR", help="folder of the certificate")
        two.add_argument(
            "--seed", default="", help="the value of the stated source: digits and letters from a to f, in lower case"
        )
        two.add_argument(
            "--reveal",
            action="append",
            default=[],
            metavar="NAME=TEXT",
            help="the text that this person committed themselves to; repeatable",
        )
        three = steps.add_parser("judge", help="add experts' judgments")
        three.add_argument("folder", type=Path, metavar="DIR", help="folder of the certificate")
        three.add_argument(
            "judgments", type=Path, metavar="FILE", help="table with the columns item and label, and expert and at"
        )
        three.add_argument("--encoding", metavar="NAME", help="encoding of a CSV or TSV file that isn't UTF-8")
        for name, told in (("status", "say how far the audit is"), ("end", "end the audit without a certificate")):
            steps.add_parser(name, help=told).add_argument(
                "folder", type=Path, metavar="DIR", help="folder of the certificate"
            )
        plan = steps.add_parser("plan", help="say how many judgments a certificate takes")
        plan.add_argument("labels", type=int, metavar="N", help="number of labels")
        _add_claim(plan)
        plan.add_argument(
            "--seconds", type=float, default=30.0, help="seconds of an expert per judgment, for the hours (default 30)"
        )
        for step in steps.choices.values():
            step.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do one step and print what came of it."""
        try:
            found = _STEPS[options["step"]](options)
        except (RecordError, JudgmentFileError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        self.stdout.write(json_line(found) if options["json"] else "\n".join(found.pop("lines")))


def _add_claim(parser: ArgumentParser) -> None:
    parser.add_argument("--error", type=float, default=0.05, help="acceptable share of wrong labels (default 0.05)")
    parser.add_argument("--risk", type=float, default=0.05, help="risk of a false certificate (default 0.05)")
    parser.add_argument(
        "--guess",
        type=float,
        help="expected share of wrong labels; a wrong guess only costs judgments (default: half the error)",
    )


def _claim(size: int, options: Mapping[str, Any]) -> Claim:
    try:
        return Claim(size, options["error"], options["risk"], options["guess"])
    except ValueError as error:
        raise RecordError(str(error)) from error


def _plan(options: Mapping[str, Any]) -> dict[str, Any]:
    claim = _claim(options["labels"], options)
    rows = [(share * claim.error, effort(claim, share * claim.error)) for share in GUESSES]
    hours = options["seconds"] / 3600
    lines = [f"Judgments until it is certified that {_claimed(claim)} (400 simulated audits each):"]
    lines += [
        f"  {share:.1%} wrong: {found.mean:,.0f} on average ({found.mean * hours:,.1f} expert hours), nine of ten audits at "
        f"most {found.nine_of_ten:,.0f}"
        for share, found in rows
    ]
    return {
        "plan": [{"wrong": share, **asdict(found), "hours": found.mean * hours} for share, found in rows],
        "lines": lines,
    }


def _claimed(claim: Claim) -> str:
    return f"at most {100 * claim.error:.6g}% of {claim.size:,} labels are wrong, at a risk of {100 * claim.risk:.6g}%"


def _freeze(options: Mapping[str, Any]) -> dict[str, Any]:
    rows = labels_read(options["labels"], encoding=options["encoding"])
    spelling = Spelling.of(row.label for row in rows)
    labels = {row.item: spelling.text(row.label) for row in rows}
    claim = _claim(len(labels), options)
    found = freeze(
        options["to"],
        labels,
        claim=claim,
        source=options["source"],
        commitments=_pairs(options["commit"], "--commit"),
        page=PAGE.read_text(encoding="utf-8"),
        at=now_text(),
    )
    how = " ".join(f"--reveal {name.partition('=')[0]}=TEXT" for name in options["commit"]) or "--seed VALUE"
    lines = [
        *spelling.notes("label"),
        f"{len(labels):,} labels are frozen. Publish this hash before the seed can be known:",
        f"  {found}",
        f"Then: manage.py certify draw {options['to']} {how}",
    ]
    return {"labels": len(labels), "hash": found, "lines": lines}


def _draw(options: Mapping[str, Any]) -> dict[str, Any]:
    folder, reveals = options["folder"], _pairs(options["reveal"], "--reveal")
    _whole(folder)
    order = draw(folder, seed=options["seed"], reveals=reveals, at=now_text())
    lines = [
        f"Judge the items of {folder / TO_JUDGE} from the top, without seeing their labels, for as long as it takes.",
        f"Then: manage.py certify judge {folder} JUDGMENTS.csv",
    ]
    return {"items": len(order), "order": str(folder / TO_JUDGE), "lines": lines}


def _judge(options: Mapping[str, Any]) -> dict[str, Any]:
    folder, path = options["folder"], options["judgments"]
    record = _whole(folder)
    spelling = Spelling.of(record.labels.values())
    judged = [
        Judged(row.item, spelling.text(row.label), row.who, _time(path, row.line, row.at))
        for row in labels_read(path, encoding=options["encoding"], skip_unlabeled=True)
    ]
    found = _told(judge(folder, judged, signer=Signer()))
    found["lines"] = [*_notes(record, judged), *found["lines"]]
    return found


def _notes(record: Record, judged: Sequence[Judged]) -> list[str]:
    """Return notes on experts' labels that no frozen label has: each counts as a difference."""
    known = set(record.labels.values())
    new = sorted({one.label for one in judged} - known)
    told = [f"no frozen label is {', '.join(map(repr, new[:20]))}: such judgments count as differing"] if new else []
    return [*told, *Spelling.of([*sorted(known), *new]).notes("label")]


def _whole(folder: Path) -> Record:
    """Return a record without problems: nothing is added to, and signed with, a record that was changed.

    Raises
    ------
    RecordError
    """
    record = Record(folder)
    if wrong := list(problems(record)):
        raise RecordError("\n".join(f"{place}: {what}" for place, what in wrong))
    return record


def _time(path: Path, line: int, text: str) -> str:
    if not text:
        return now_text()
    try:
        at = datetime.fromisoformat(text)
        return text_at(at.replace(tzinfo=UTC) if at.tzinfo is None else at)
    except (ValueError, OverflowError) as error:
        raise RecordError(
            f"{path}, line {line}, column at: {text!r} isn't a time such as 2026-05-04T12:30:00Z"
        ) from error


def _end(options: Mapping[str, Any]) -> dict[str, Any]:
    _whole(options["folder"])
    return _told(end(options["folder"], signer=Signer()))


def _status(options: Mapping[str, Any]) -> dict[str, Any]:
    return _told(_whole(options["folder"]))


def _told(record: Record) -> dict[str, Any]:
    state = state_of(record)
    result = {
        "certified": f"Certified: {_claimed(record.claim)}.",
        "ended": "Ended without a certificate.",
        "open": "No certificate yet: judge more items, or end the audit. Stopping at any time is valid.",
    }
    counted = f"{state.judged:,} of {state.size:,} labels judged, {state.wrong:,} wrong."
    bounds = f"With 95% confidence, at all moments of the audit together: {state.low:.1%} to {state.high:.1%} wrong."
    lines = [result[state.outcome], counted, bounds, f"Hash that was published before the draw: {state.published}"]
    lines += [f"Key of the signature: {state.key}"] if state.key else []
    return {**asdict(state), "lines": lines}


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value) or name in found:
            raise RecordError(f"{option} {text!r}: needs a new name, an equals sign, and a text")
        found[name] = value
    return found


_STEPS = {"plan": _plan, "freeze": _freeze, "draw": _draw, "judge": _judge, "end": _end, "status": _status}
