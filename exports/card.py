"""The data card of a release: what it is, how it was made, how far to trust it, in words beside the data."""

from typing import Any

from django.utils.translation import override

from accounts.selectors import consent_text_current
from annotation.models import Campaign, Participation
from annotation.tasktypes.registry import TASK_TYPES
from exports.models import Release
from quality.selectors.agreement import agreement_shown


def card_facts(campaign: Campaign) -> dict[str, Any]:
    """Return what a card says besides the manifest, as it is when a release is frozen: it is frozen with it."""
    consent = consent_text_current(campaign.pk)
    with override("en"):
        rows = [{**row, "name": str(row["name"])} for row in agreement_shown(campaign)]
    return {
        "task": TASK_TYPES[campaign.task_type].title, "language": campaign.language,
        "annotators": Participation.objects.filter(campaign=campaign, submitted__gt=0).count(),
        "purpose": consent.purpose if consent else "", "recorded": consent.recorded if consent else "",
        "approval": consent.approval_id if consent else "", "warning": campaign.content_warning,
        "guidelines": list(campaign.guidelines.order_by("version").values("version", "note", "body")),
        "agreement": [
            {"what": row["name"], **{key: row["counted"].get(key) for key in ("alpha", "low", "high", "units")}}
            for row in rows
        ],
    }  # fmt: skip


def card_text(release: Release, manifest: dict[str, Any]) -> str:
    """Return the card in Markdown: from the manifest and from what was frozen, so that it never changes."""
    facts = release.frozen.get("card")
    if facts is None:  # frozen before there were cards
        return ""
    parts = [
        f"# {manifest['title']}", *_synthetic(manifest), *_what(manifest, facts), *_how(manifest, facts), *_trust(manifest, facts),
        "## Guidelines", *(_guideline(one) for one in facts["guidelines"]),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _synthetic(manifest: dict[str, Any]) -> list[str]:
    return ["**The answers were made by a synthetic crowd.**"] if manifest["synthetic"] else []


def _what(manifest: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    splits = "; ".join(f"{name}: {count} items" for name, count in manifest["splits"].items())
    return [
        (
            f"Release {manifest['release']} of the campaign `{manifest['campaign']}`, frozen at {manifest['frozen_at']}. "
            f"Task: {facts['task']}. Language of the documents: {facts['language']}. Format: {manifest['format']}, "
            f"{manifest['ways']} annotations an item. {splits}. Items that fell short and are left out: {manifest['shortfall']}."
        ),
        f"Licence: {manifest['licence'] or 'not stated'}.",
        f"Content warning: {facts['warning']}" if facts["warning"] else "",
    ]


def _how(manifest: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    ways = "; ".join(f"{way}: {count}" for way, count in manifest.get("annotations_via", {}).items())
    return [
        "## How it was made",
        (
            f"{facts['annotators']} people had annotated in the campaign by then. Annotations by where their authors came from: {ways or 'not recorded'}. "
            f"Written by {manifest['code']}."
        ),
        f"What annotators were told of its purpose: {facts['purpose']}" if facts["purpose"] else "",
        f"What they were told is recorded: {facts['recorded']}" if facts["recorded"] else "",
        f"Ethics approval: {facts['approval']}" if facts["approval"] else "",
        "Annotators stand under pseudonyms that nobody can lead back to them without this platform's keys.",
    ]


def _trust(manifest: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    rows = [
        f"- {row['what']}: {row['alpha']:.3f}"
        + (f" ({row['low']:.3f} to {row['high']:.3f})" if row["low"] is not None else "")
        + f", {row['units']} items"
        for row in facts["agreement"]
        if row["alpha"] is not None
    ]
    error = manifest["label_error"]
    return [
        "## How far to trust it",
        "Krippendorff's alpha of what counted in the campaign, as last computed by then (95 % two-way jackknife intervals):\n\n" + "\n".join(rows) if rows else
        "Agreement had not been computed by then, or is undefined.",
        "The error of its labels was measured by an audit: see `label_error` in `manifest.json`." if error else
        "The error of its labels was not measured.",
        *(f"One person managed and worked here: {waiver.get('reason', '')}" for waiver in manifest["role_waivers"]),
    ]  # fmt: skip


def _guideline(one: dict[str, Any]) -> str:
    note = f"\n\nWhat changed: {one['note']}" if one["note"] else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in one["body"].splitlines())
    return f"Version {one['version']}{note}\n\n{quoted}"
