"""The fair-work statement of a release: pay, exclusions, refusals and appeals, written from the manifest alone."""

from typing import Any

from quality.templatetags.money import dollars


def fair_work_text(manifest: dict[str, Any]) -> str:
    """Return the statement in Markdown; an empty text for older releases, which have no such data."""
    work = manifest.get("work")
    if work is None:
        return ""
    parts = [
        "# Fair work",
        (
            f"How the people behind `{manifest['campaign']}`, release {manifest['release']}, were paid and treated, over the whole "
            f"campaign until {manifest['frozen_at']}. Amounts are sums of the ledger; `work` in `manifest.json` has the numbers."
        ),
        *(["**The answers were made by a synthetic crowd.**"] if manifest["synthetic"] else []),
        "## Pay",
        *_pay(work),
        "## Work that does not count",
        *_not_counted(work),
    ]
    return "\n\n".join(parts) + "\n"


def _pay(work: dict[str, Any]) -> list[str]:
    if not work["people_paid"]:
        return ["Nobody was paid through this platform. Whether members were paid otherwise is not known here."]
    parts = [
        (
            f"{work['people_paid']} people were paid {dollars(work['reward_cents'])} in rewards and "
            f"{dollars(work['bonus_cents'])} in bonuses; fees of {dollars(work['fee_cents'])} came on top."
        )
    ]
    for clock, what in (("active", "with the page in view"), ("server", "from claim to submission")):
        rates = work["cents_an_hour"].get(clock)
        if rates:
            parts.append(
                f"By the time {what}, half of them earned {dollars(rates['median'])} an hour or more, and nine of ten "
                f"{dollars(rates['p10'])} or more."
            )
    if not work["cents_an_hour"]:
        parts.append("How much an hour that is, is not told: there are too few people, or no times.")
    floor = work["floor_cents_an_hour"]
    parts.append(f"The floor that was set is {dollars(floor)} an hour." if floor else "No floor was set.")
    if work["by_members"]:
        parts.append(f"{work['by_members']} annotations are by members, whose pay is not known here.")
    return parts


def _not_counted(work: dict[str, Any]) -> list[str]:
    states = {state: n for state, n in work["annotations"].items() if state != "counted"}
    told = "; ".join(f"{state.replace('_', ' ')}: {n}" for state, n in states.items())
    appeals = "; ".join(f"{state}: {n}" for state, n in work["appeals"].items())
    return [
        f"Annotations that do not count, by why: {told}." if told else "All annotations count.",
        (
            "Whether work counts and whether it is paid are two decisions: pay was refused, by a person and with a reason, for "
            f"{work['submissions_refused']} submissions. Appeals against that: {appeals or 'none'}."
        ),
        *_reviews(work.get("reviews", {})),  # releases before 0.3 don't have them
    ]


def _reviews(reviews: dict[str, dict[str, int]]) -> list[str]:
    """Return what automatic checks did to people, and how often a manager followed them."""
    parts = []
    for kind, what in (
        ("asked", "Checks and rules asked a manager first, and paused nobody"),
        ("paused", "Checks and rules paused annotators until a manager decided"),
    ):
        counts = reviews.get(kind, {})
        if total := sum(counts.values()):
            parts.append(
                f"{what}: {total} times. The manager then suspended the annotator {counts['suspended']} times and let "
                f"them work on {counts['reinstated']} times; {counts['open']} times nothing was decided yet."
            )
    return parts or ["No check and no rule paused anyone."] if reviews else []
