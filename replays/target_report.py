"""The report of the replay with a target: both processes side by side."""

from typing import Any

from replays.tables import opening, profile, share, table


def rendered(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    both = [report["paper"], report["target"]]
    aimed = report["target"]["policy"]["target"]
    rows = [
        ("labels", *(one["labels"] for one in both)),
        ("judgments", *(one["judgments"] for one in both)),
        ("judgments a label", *(round(one["judgments"] / max(one["labels"], 1), 2) for one in both)),
        ("dollars", *(f"{one['cents'] / 100:,.2f}" for one in both)),
        ("cents a label", *(round(one["cents"] / max(one["labels"], 1), 2) for one in both)),
        ("labels set by experts", *(one["wrong by rule"].get("expert", [0, 0])[1] for one in both)),
        ("label error, as an audit found it (95%)", *(_audited(one["label_error"]) for one in both)),
        ("label error, by the truth of this world", *(_true(one["wrong by rule"]) for one in both)),
        ("suspended annotators", *(one["suspended"] for one in both)),
        ("differences between the books", *(len(one["differences"]) for one in both)),
    ]
    return "\n".join(
        [
            opening(
                report,
                "The paper's process beside a target",
                "The same pairs and the same crowd twice, over the real protocol: three votes, a second round and an expert as in "
                "the ANTIQUE paper; and votes where the doubt is, until the error that an audit found of the first, for at most "
                f"what its second round cost (aimed at {100 * aimed['error']:.1f}%, budget ${aimed['budget_cents'] / 100:,.2f}; "
                f"it ended by: {report['target']['stop'] or 'its last vote'}).",
            ),
            table(["", "paper", "target"], rows),
            "",
            profile(report, sum(one["judgments"] for one in both), "a judgment"),
        ]
    )


def _audited(found: dict[str, Any]) -> str:
    return (
        f"{100 * found['share']:.1f}% ({100 * found['low']:.1f} to {100 * found['high']:.1f}; {found['judged']} judged)"
    )


def _true(by_rule: dict[str, list[int]]) -> str:
    wrong, of = (sum(pair[place] for pair in by_rule.values()) for place in (0, 1))
    return f"{share(wrong, of)} ({wrong:,} of {of:,})"
