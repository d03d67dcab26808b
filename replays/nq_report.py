"""The report of the replay of Natural Questions: its figures and tables next to the paper's."""

from collections.abc import Mapping
from typing import Any

from annotation.tasktypes.nq.judging import CORRECT, DEBATABLE, GRADES, WRONG
from replays.nq import MANY
from replays.tables import opening, profile, table

PATHS = {
    "bad_question": "bad question",
    "no_answer": "no answer on the page",
    "long_only": "long answer only",
    "yes_no": "yes or no",
    "short_answer": "short answer",
}
FIGURE_2 = {"bad_question": 14, "no_answer": 37, "long_only": 13, "yes_no": 1, "short_answer": 35}
BOXES = {"<P>": 73, "<Table>": 19, "<Tr>": 1, "<Ul>": 3, "<Li>": 3}
TABLE_2 = {"passage": (90, 59, 31, 10), "short": (84, 51, 33, 16)}
COVERAGE = {"passage": {1: 83, 2: 96}, "short": {1: 64, 3: 90}}
TABLE_3 = {
    ("passage", "single"): (80.4, 67.6, 73.4),
    ("passage", "super"): (90.0, 84.6, 87.2),
    ("short", "single"): (63.4, 52.6, 57.5),
    ("short", "super"): (79.1, 72.6, 75.7),
}
NAMES = {"passage": "long answer", "short": "short answer", "single": "one annotator", "super": "super-annotator"}
SIGNS = {CORRECT: "C", DEBATABLE: "Cd", WRONG: "W"}
EXAMPLES = 8


def rendered(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    studies = report["studies"]
    return "\n".join(
        [
            opening(
                report,
                "Natural Questions, replayed",
                "Annotators with accounts judge questions, find boxes on generated pages and mark words, over the pages' own "
                "HTTP; five for each question, twenty more for a study; four experts judge a sample. Set from the paper: the "
                "shares of bad questions and of answers (Figure 2), of the kinds of boxes, and how often the most popular "
                "answers are chosen (section 4.4). How alike questions are is assumed.",
            ),
            _material(report),
            "",
            "## Figure 2 and section 3.3",
            "",
            _figure_2(studies["statistics"]),
            "",
            "## Table 2",
            "",
            _table_2(studies["precision"]),
            "",
            "## Section 4.4 and Figure 4",
            "",
            _variability(studies["variability"]),
            "",
            "## Figures 5 and 6",
            "",
            _examples(studies["examples"]),
            "",
            "## Table 3: people",
            "",
            _bounds(studies["bounds"]),
            "",
            _official(report["released"]),
            "",
            profile(report, int(report["counts"].get("answers", 0)), "an annotation"),
            _clock(report),
        ]
    )


def _share(found: Mapping[str, Any] | None) -> str:
    """Return a share in percent with its interval."""
    if not found or found.get("share") is None:
        return "–"
    value, low, high = (f"{100 * found[key]:.0f}" for key in ("share", "low", "high"))
    return f"{value}% ({low} to {high})"


def _why(found: Mapping[str, Any]) -> str:
    return f"Not computed at this scale: {found['why']}." if found.get("why") else ""


def _material(report: dict[str, Any]) -> str:
    released = report["released"]
    return (
        f"{report['items']:,} questions (the paper: 7,830), {report['study']:,} of them with 25 annotations (302), by "
        f"{report['people']} annotators (about 50). The release holds {released['bytes'] / 1e6:,.0f} MB of JSON in "
        f"{released['shards']} file{'s' if released['shards'] > 1 else ''}, {released['bytes'] / 1e6 / report['items']:.2f} MB a "
        "question (0.88); `validate_nq` and `release_verify` find nothing wrong."
    )


def _figure_2(found: dict[str, Any]) -> str:
    if found.get("why"):
        return _why(found)
    rows = [(title, _share(found["paths"].get(path)), f"{FIGURE_2[path]}%") for path, title in PATHS.items()]
    boxes = [
        (f"long answers that are {tag}", _share(found["boxes"].get(tag)), f"{paper}%") for tag, paper in BOXES.items()
    ]
    return table(["shares of annotations", "here", "paper"], [*rows, *boxes])


def _table_2(found: dict[str, Any]) -> str:
    if found.get("why"):
        return _why(found)
    rows = []
    for kind, paper in TABLE_2.items():
        one = found[kind]
        ours = [one["psi"], *(one["grades"].get(grade) for grade in GRADES)]
        rows.append((f"{NAMES[kind]} (n = {one['n']})", *map(_share, ours)))
        rows.append((f"{NAMES[kind]}, paper", *(f"{value}%" for value in paper)))
    return table(["", "Ψ", "C", "Cd", "W"], rows)


def _variability(found: dict[str, Any]) -> str:
    if found.get("why"):
        return _why(found)
    rows = []
    for kind, paper in COVERAGE.items():
        cover = found[kind]["coverage"]
        for number, value in paper.items():
            ours = cover[number - 1] if len(cover) >= number else None
            rows.append((f"{NAMES[kind]}: covered by the {number} most popular", _share(ours), f"{value}%"))
    tables = [table(["25 annotations", "here", "paper"], rows), *(_figure_4(kind, found[kind]) for kind in COVERAGE)]
    return "\n\n".join(tables)


def _figure_4(kind: str, found: dict[str, Any]) -> str:
    """Return the table for one kind of answer; the paper shows bars without numbers."""
    rows = [
        (
            f"{row['above']:.1f} to {row['to']:.1f}",
            _share(row["all"]),
            *(_share(row["grades"].get(grade)) for grade in GRADES),
        )
        for row in found.get("figure_4", ())
    ]
    return table([f"{NAMES[kind]}s: μ, share of non-null", f"of all judged ({found['items']})", "C", "Cd", "W"], rows)


def _examples(found: dict[str, Any]) -> str:
    """Return some questions: how many annotators found an answer, how many the judged one, and its grade."""
    if found.get("why"):
        return _why(found)
    rows = [
        (one["question"], *(_stats(one["answers"][kind]) for kind in COVERAGE)) for one in found["items"][:EXAMPLES]
    ]
    return table(["question", *(f"{NAMES[kind]}s: any, the judged one" for kind in COVERAGE)], rows)


def _stats(found: dict[str, Any]) -> str:
    grade = f" ({SIGNS[found['grade']]})" if found["grade"] else ""
    return f"{found['found']}/{MANY}, {found['same']}/{MANY}{grade}"


def _bounds(found: dict[str, Any]) -> str:
    if found.get("why"):
        return _why(found)
    rows = []
    for (kind, who), paper in TABLE_3.items():
        ours = [_share(found[kind][who][name]) for name in ("precision", "recall", "f1")]
        rows.append(
            (
                f"{NAMES[kind]}, {NAMES[who]}",
                *(f"{one}; paper {value:.1f}" for one, value in zip(ours, paper, strict=True)),
            )
        )
    return table(["", "precision", "recall", "F1"], rows)


def _official(released: dict[str, Any]) -> str:
    metrics = released["official"]["metrics"]
    return (
        "The official evaluation reads the release unchanged. Taken as a system, the first annotator of each question reaches an F1 "
        f"of {100 * metrics['long-best-threshold-f1']:.1f} for long and {100 * metrics['short-best-threshold-f1']:.1f} for short "
        "answers, by references of which theirs is one (so that precision is high by construction)."
    )


def _clock(report: dict[str, Any]) -> str:
    counts = report["counts"]
    each = counts.get("crowd seconds", 0) / max(counts.get("answers", 1), 1)
    busy = report["seconds"].get("five annotations", 0) + report["seconds"].get("twenty more", 0)
    return (
        f"By the annotators' own clocks a question took {each:.0f} s on average (the paper: 80 s) and all of it "
        f"{counts.get('crowd days', 0):.1f} days; servers saw {counts.get('requests', 0):,.0f} requests, "
        f"{counts.get('requests', 0) / max(busy, 1):.0f} a second.\n"
    )
