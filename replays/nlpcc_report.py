"""The report of NLPCC's replay: the number of accepted questions, and the scores."""

from typing import Any

from replays.tables import opening, profile, table

TITLES = {
    ("review", "accept"): "accepted",
    ("review", "edit"): "accepted with a change",
    ("review", "reject"): "rejected",
    ("recover", "found"): "answered blind: found",
    ("recover", "missed"): "answered blind: not found",
}


def rendered(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    return "\n".join(
        [
            opening(
                report,
                "NLPCC 2017, replayed",
                "People with accounts write a question for a fact or for a sentence that they chose (sections 2 and 3); a second "
                "person reviews each, a third answers it blind. The overview reports neither rejections nor blind answers.",
            ),
            *(_task(report, task) for task in ("kbqa", "dbqa")),
            profile(report, int(report["counts"].get("answers", 0)), "a task"),
        ]
    )


def _task(report: dict[str, Any], task: str) -> str:
    one = report[task]
    rows = [(TITLES[row["asks"], row["outcome"]], row["count"], _share(row)) for row in one["follow_ups"]]
    bounds = one["scored"]["intervals"]
    scored = ", ".join(
        f"{name} {value:.3f} ({bounds[name][0]:.3f} to {bounds[name][1]:.3f})"
        for name, value in one["scored"]["metrics"].items()
    )
    what = {
        "kbqa": "A system that knows every other answer",
        "dbqa": "A system that compares pairs of signs",
    }[task]
    return (
        f"## {task.upper()}\n\n{one['questions']:,} of {one['items']:,} are released, {one['shortfall']:,} are not ready; the "
        f"files are those of the shared task, and `release_verify` finds nothing wrong. {what} is scored: {scored}.\n\n"
        + table(["", "tasks", "share (95%)"], rows)
        + "\n"
    )


def _share(row: dict[str, Any]) -> str:
    if "share" not in row:
        return "–"
    return f"{100 * row['share']:.1f}% ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
