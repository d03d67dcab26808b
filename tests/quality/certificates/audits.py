"""Labels that are certified, from freezing to the signature, in a folder."""

import csv
import json
from io import StringIO

from django.core.management import call_command

from quality.certificates.entries import LABELS, RECORD, hash_of

LABELED = {f"q{number}": "123"[number % 3] for number in range(200)}
WORDS = {"ann": "seven of clubs", "bo": "雨が降る"}


def certify(*arguments, **options):
    """Run a step and return what it printed."""
    out = StringIO()
    call_command("certify", *map(str, arguments), stdout=out, **options)
    return out.getvalue()


def table(path, rows, header=("item", "label", "expert", "at")):
    """Write a table and return its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def frozen(folder, *arguments):
    """Freeze labels into a folder named out; return it."""
    source = table(folder / "labels.csv", LABELED.items(), ("item", "label"))
    announced = () if any(str(one).startswith("--commit") for one in arguments) else ("--source", "a beacon")
    certify("freeze", source, "--to", folder / "out", *announced, *arguments)
    return folder / "out"


def drawn(folder, *arguments):
    """Freeze and draw; return the folder and the items in order."""
    out = frozen(folder, *arguments)
    certify("draw", out, "--seed", "4f2a")
    with (out / "to_judge.csv").open(encoding="utf-8") as file:
        return out, [row["item"] for row in csv.DictReader(file)]


def judgments(folder, items, *, wrong=(), at=""):
    """Write what an expert says about items, some of them wrong; return the path."""
    rows = [
        (one, LABELED[one] if place not in wrong else other(LABELED[one]), "e1", at) for place, one in enumerate(items)
    ]
    return table(folder / "judgments.csv", rows)


def other(label):
    """Return another label."""
    return {"1": "2", "2": "3", "3": "1"}[label]


def certified(folder, *arguments):
    """Certify labels with one wrong among those judged; return the folder."""
    out, order = drawn(folder, *arguments)
    certify("judge", out, judgments(folder, order, wrong={4}))
    return out


def changed(out, change):
    """Change the entries of a record, and write them with a chain that fits, as people without the key could."""
    lines, before = [], ""
    entries = [json.loads(line) for line in (out / RECORD).read_text().splitlines()]
    for entry in change(entries):
        entry["before"] = before
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        before = hash_of(line.encode())
        lines.append(f"{line}\n")
    (out / RECORD).write_text("".join(lines))


def relabeled(out):
    """Change a frozen label that wasn't judged."""
    path = out / LABELS
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    judged = {json.loads(line).get("item") for line in (out / RECORD).read_text().splitlines()}
    row = next(row for row in rows if row["item"] not in judged)
    row["label"] = other(row["label"])
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in rows))


def _one(entries, kind):
    return next(entry for entry in entries if entry["kind"] == kind)


def _seed(entries):
    _one(entries, "drawn")["seed"] = "4f2b"
    return entries


def _order(entries):
    first, second = [place for place, entry in enumerate(entries) if entry["kind"] == "judged"][:2]
    for name in ("item", "label"):
        entries[first][name], entries[second][name] = entries[second][name], entries[first][name]
    return entries


def _left_out(entries):
    judged = [entry for entry in entries if entry["kind"] == "judged"]
    entries.remove(judged[4])  # the wrong one
    return entries


def _judgment(entries):
    entry = [entry for entry in entries if entry["kind"] == "judged"][4]
    entry["label"] = LABELED[entry["item"]]
    return entries


def _time(entries):
    entry = [entry for entry in entries if entry["kind"] == "judged"][2]
    entry["at"] = "2019-01-01T00:00:00+00:00"
    return entries


def _result(entries):
    _one(entries, "certified")["wrong"] = 0
    return entries


def _undrawn(entries):
    return [entry for entry in entries if entry["kind"] not in ("drawn", "judged")]


def _chosen(entries):
    """Leave out the draw, and judge items of one's own choice."""
    judged = [entry for entry in entries if entry["kind"] == "judged"]
    return [entries[0], *judged[:4], *entries[-2:]]


def _late(entries):
    [entry for entry in entries if entry["kind"] == "judged"][-1]["at"] = "2099-01-01T00:00:00+00:00"
    return entries


def _unlabeled(entries):
    entry = [entry for entry in entries if entry["kind"] == "judged"][4]
    entry["label"] = None
    return entries


def _alone(entries):
    _one(entries, "frozen").update(source="", commitments={"me": hash_of(b"mine")})
    _one(entries, "drawn").update(reveals={"me": "mine"}, seed=hash_of(b"me\nmine"))
    return entries


def _terms(entries):
    _one(entries, "frozen")["risk"] = 0.01
    return entries


# What a record doesn't survive, even if its chain is made to fit.
TAMPERED = {
    "label": relabeled,
    **{
        name: lambda out, change=change: changed(out, change)
        for name, change in {
            "seed": _seed,
            "order": _order,
            "left out": _left_out,
            "judgment": _judgment,
            "time": _time,
            "result": _result,
            "terms": _terms,
            "no draw": _undrawn,
            "chosen items": _chosen,
            "late": _late,
            "no label": _unlabeled,
            "one person's seed": _alone,
            "a risk of two": lambda entries: [entries[0] | {"risk": 2}, *entries[1:]],
        }.items()
    },
}
