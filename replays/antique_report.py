"""The report of ANTIQUE's replay: Table 1 next to the paper's, with each difference and its reason."""

from typing import Any

from replays.tables import opening, profile, share, table

PAPER = {
    "pairs judged by the crowd": 31_385,
    "questions": 2_626,
    "workers": 577,
    "judgments": 148_252,
    "rejected": 17_460,
    "second round": 4_080,
    "experts": 776,
    "label 4": 13_067,
    "label 3": 9_276,
    "label 2": 8_754,
    "label 1": 2_914,
}


def rendered(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    found, books, scale = report["summary"], report["books"], report["scale"]
    ours = {
        "pairs judged by the crowd": found["pairs"],
        "questions": found["questions"],
        "workers": found["workers"],
        "judgments": found["judgments"],
        "rejected": found["excluded_paid"] + found["refused"],
        "second round": found["no_agreement_first"],
        "experts": found["expert_cases"],
        **{f"label {label}": found["labels"].get(str(label), 0) for label in (4, 3, 2, 1)},
    }
    rows = [(name, ours[name], paper, f"{scale * paper:,.0f}", reason(name, report)) for name, paper in PAPER.items()]
    return "\n".join(
        [
            opening(
                report,
                "ANTIQUE, replayed",
                "A crowd that knows only pages takes HITs of the marketplace, answers in its frames and is paid; the rules "
                "of the paper (section 3.1) do the rest. The crowd is set from two rates of the paper: 12% of work by "
                "people who do not read, 13% of pairs without a majority of three careful people.",
            ),
            table(["Table 1", "here", "paper", "paper × scale", "why they differ"], rows),
            "",
            _rates(report),
            "",
            _labels(report),
            "",
            _money(books, found),
            "",
            _release(report),
            "",
            profile(report, found["judgments"], "a judgment"),
            _counts(report),
        ]
    )


def reason(name: str, report: dict[str, Any]) -> str:
    """Return the reason why a figure differs from the paper's times the scale."""
    return {
        "judgments": "by the paper's own rules 31,385 pairs take about 125,000; what its other 23,000 were it does not say",
        "rejected": "people who do not read are paused early here, so that they do less; the paper excluded them by batch",
        "workers": "at least 16" if report["scale"] < 0.03 else "",
        "questions": "",
        "second round": "the crowd is set to 13% for careful people; those who do not read add to it until they are paused",
        "experts": "a second round of three others; the paper's rules leave 17 to 34% of such pairs on real crowds",
        "label 4": "true labels are drawn with the paper's shares; the asker's best answers count as 4 in both",
    }.get(name, "")


def _rates(report: dict[str, Any]) -> str:
    found = report["summary"]
    rows = [
        ("rejected judgments", share(found["excluded_paid"] + found["refused"], found["judgments"]), "11.8%"),
        (
            "pairs without a majority in the first round",
            share(found["no_agreement_first"], found["pairs"]),
            "about 13%",
        ),
        ("of those, to an expert", share(found["expert_cases"], found["no_agreement_first"]), "19%"),
        ("judgments a pair", round(found["judgments"] / max(found["pairs"], 1), 2), "4.72"),
        ("judgments a worker", round(found["judgments"] / max(found["workers"], 1)), "257"),
        ("gold checks", share(found["gold_checks"], found["judgments"] + found["gold_checks"]), "3%"),
        ("annotators suspended", found["suspended"], "not said"),
        ("submissions read by hand", share(found["inspected"], found["judgments"]), "20%"),
    ]
    return table(["rates", "here", "paper"], rows)


def _labels(report: dict[str, Any]) -> str:
    by_rule: dict[str, list[int]] = report["wrong by rule"]
    by_rule = {**dict(sorted(by_rule.items())), "all": [sum(pair) for pair in zip(*by_rule.values(), strict=True)]}
    rows = [(rule, of, wrong, share(wrong, of)) for rule, (wrong, of) in by_rule.items()]
    return (
        "The truth of this world is known, as it never is: labels that differ from it, by the rule that set them.\n\n"
        + table(["rule", "labels", "wrong", "share"], rows)
    )


def _money(books: dict[str, Any], found: dict[str, Any]) -> str:
    rows = [
        ("rewards", books["rewards_ours"] / 100, books["rewards_theirs"] / 100),
        (
            "bonuses (training, appeals)",
            books["bonuses_ours"] / 100,
            books.get("bonuses_theirs", books["bonuses_ours"]) / 100,
        ),
        ("fees", books["fees_ours"] / 100, books["account"]["fees"] / 100),
    ]
    differences = len(books["differences"])
    return (
        f"Books: **{differences or 'no'} difference{'' if differences == 1 else 's'}** between our ledger and the "
        f"marketplace's over {books['assignments']:,} assignments. The paper paid 2,400 USD.\n\n"
        + table(["USD", "our ledger", "the marketplace"], rows)
    )


def _release(report: dict[str, Any]) -> str:
    released = report["released"]
    flags = ", ".join(f"{count:,} {flag}" for flag, count in sorted(released["by flag"].items()))
    return (
        f"The release holds {released['qrel lines']:,} qrel lines ({flags}) in {released['files']} files; "
        "`release_verify` finds nothing wrong."
    )


def _counts(report: dict[str, Any]) -> str:
    counts = report["counts"]
    rate = counts.get("requests", 0) / max(report["seconds"].get("collect", 1), 1)
    return (
        f"By the crowd's own clock the work took {counts.get('crowd days', 0):.1f} days and "
        f"{counts.get('crowd seconds', 0) / 3600:,.0f} hours of people; servers saw it as fast as they could: "
        f"{counts.get('requests', 0):,.0f} requests, {rate:.0f} a second.\n"
    )
