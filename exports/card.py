"""The data card of a release: a description of its content, creation and reliability."""

import re
from html import escape
from typing import Any

from accounts.selectors import consent_text_current
from annotation.models import Campaign, Participation
from annotation.tasktypes.registry import TASK_TYPES
from exports.citation import is_one_line, quoted, reference, spdx_of
from exports.models import Release

# How to read the tables of a release, whose folder is the current one.
LOAD = """import pandas

items = pandas.read_parquet("tables/items.parquet")
judgments = pandas.read_parquet("tables/judgments.parquet")
print(judgments[judgments.is_used].merge(items, on="item_id").head())"""


_NO_TEXTS = (
    "The texts that were labelled are left out: they may not be handed on. Who has them from their source finds each by the "
    "ids in the table `items`."
)
_MARKDOWN = re.compile(r"[\[\]`|]")
_SCALES = {"nominal": "nominal", "ordinal": "ordinal", "sets": "MASI distance of sets"}


def card_facts(campaign: Campaign) -> dict[str, Any]:
    """Return the facts on a card that are not in the manifest; they are frozen with the release."""
    consent = consent_text_current(campaign.pk)
    return {
        "title": campaign.title,
        "task": TASK_TYPES[campaign.task_type].title,
        "language": campaign.language,
        "annotators": Participation.objects.filter(campaign=campaign, submitted__gt=0).count(),
        "purpose": consent.purpose if consent else "",
        "recorded": consent.recorded if consent else "",
        "approval": consent.approval_id if consent else "",
        "warning": campaign.content_warning,
        "guidelines": list(campaign.guidelines.order_by("version").values("version", "note", "body")),
    }


def card_text(release: Release, manifest: dict[str, Any]) -> str:
    """Return the card in Markdown, built from the manifest and the frozen facts, so it never changes.

    The Hugging Face hub and `datasets` read its front matter: each table is a configuration.
    """
    facts = release.frozen.get("card")
    if facts is None:  # frozen before there were cards
        return ""
    parts = [
        _front(manifest, facts),
        f"# {_line(manifest['title'])}",
        *_synthetic(manifest),
        *_what(manifest, facts),
        *_use(manifest),
        *_how(manifest, facts),
        *_trust(manifest),
        *_baselines(release.frozen.get("baselines", "")),
        *_columns(manifest),
        "## Guidelines",
        *(_guideline(one) for one in facts["guidelines"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front(manifest: dict[str, Any], facts: dict[str, Any]) -> str:
    licence = manifest["licence"]
    known = spdx_of(manifest)
    lines = [
        "---",
        f"pretty_name: {quoted(manifest['title'])}",
        f"language: [{quoted(facts['language'].split('-')[0])}]",
        *(
            [f"license: {quoted(known.lower())}"]
            if known
            else ["license: other", f"license_name: {quoted(licence)}"]
            if licence
            else []
        ),
        *(["configs:"] if manifest["tables"] else []),
        *(
            f"- config_name: {group}\n  data_files: [{', '.join(f'tables/{key}.parquet' for key in keys)}]"
            for group, keys in _groups(manifest).items()
        ),
        "---",
    ]
    return "\n".join(lines)


def _line(text: str) -> str:
    """Return user-written text for one line of Markdown, escaped so that no HTML, link, code or cell begins in it."""
    line = " ".join("".join(sign if is_one_line(sign) else " " for sign in text).split())
    return _MARKDOWN.sub(r"\\\g<0>", escape(line, quote=False))


def _use(manifest: dict[str, Any]) -> list[str]:
    """Return instructions to check, load and cite a release; a test runs them."""
    if not manifest["tables"]:
        return []
    return [
        "## Use it",
        "Check that all is there and unchanged, from this folder: `sha256sum --check SHA256SUMS`, or `manage.py release_verify .` of Quorate, which looks into the tables too.",
        "```python\n" + LOAD + "\n```",
        "Every table is there as JSON lines too (`tables/*.jsonl.gz`), and `croissant.json` describes them for programs.",
        f"Cite it as: {_line(reference(manifest))}"
        if manifest["authors"]
        else "Its authors were not stated: ask who published it how to cite it.",
    ]


def _columns(manifest: dict[str, Any]) -> list[str]:
    parts = ["## What the columns mean"] if manifest["tables"] else []
    for group, keys in _groups(manifest).items():
        table = manifest["tables"][keys[0]]
        rows = [f"| `{one['name']}` | {one['type']} | {one['meaning']} |" for one in table["columns"]]
        head = [f"### {group}", "", table["meaning"], "", "| column | type | meaning |", "|---|---|---|"]
        parts.append("\n".join([*head, *rows]))
    return parts


def _groups(manifest: dict[str, Any]) -> dict[str, list[str]]:
    """Return the tables grouped by name: a table written in parts is one table to its readers."""
    groups: dict[str, list[str]] = {}
    for key, table in manifest["tables"].items():
        groups.setdefault(table["group"], []).append(key)
    return groups


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
        _since(manifest["since"]) if manifest["since"] else "",
        _NO_TEXTS if manifest["labels_only"] else "",
        _sealed(manifest["sealed"]) if manifest["sealed"] else "",
        *_overlap(manifest["page_overlap"]),
        _errata(manifest["errata"]) if manifest["errata"] else "",
        f"Licence: {_line(manifest['licence'] or 'not stated')}.",
        f"Made with {manifest['code'].capitalize()}, commit {manifest['commit']}.",
        f"Content warning: {_line(facts['warning'])}" if facts["warning"] else "",
    ]


def _sealed(names: list[str]) -> str:
    return (
        f"Sealed: {', '.join(names)}. Their items are in this release, their labels are kept back: systems are scored against "
        "them where this dataset is kept. Agreement, and the tables of judgments and labels, are about the other splits."
    )


def _overlap(found: list[dict[str, Any]]) -> list[str]:
    shared = [f"{one['pages']} in {' and '.join(one['splits'])}" for one in found if one["pages"]]
    return [f"Pages that two splits share: {'; '.join(shared) or 'none'}."] if found else []


def _errata(count: int) -> str:
    return f"`sidecar/errata.jsonl.gz` lists {count} annotations that earlier releases of this form rest on and that no longer count."


def _since(since: dict[str, int]) -> str:
    return (
        f"Since release {since['release']}: {since['added']} items added, {since['removed']} removed, {since['changed']} "
        "with another label or other annotations. `manage.py release_diff` lists them."
    )


def _how(manifest: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    ways = "; ".join(f"{way}: {count}" for way, count in manifest.get("annotations_via", {}).items())
    return [
        "## How it was made",
        (
            f"{facts['annotators']} people had annotated in the campaign by then. Annotations by where their authors came from: {ways or 'not recorded'}. "
            f"Written by {manifest['code']}."
        ),
        f"What annotators were told of its purpose: {_line(facts['purpose'])}" if facts["purpose"] else "",
        f"What they were told is recorded: {_line(facts['recorded'])}" if facts["recorded"] else "",
        f"Ethics approval: {_line(facts['approval'])}" if facts["approval"] else "",
        "`FAIR-WORK.md` says how they were paid, what was excluded and refused, and what became of appeals."
        if manifest["work"]
        else "",
        "Annotators stand under pseudonyms that nobody can lead back to them without this platform's keys.",
        _rare(manifest["privacy"]) if manifest["privacy"].get("rare_judgments") else "",
    ]


def _rare(privacy: dict[str, Any]) -> str:
    return (
        f"{privacy['rare_judgments']} judgments are by people with fewer than {privacy['rare_below']} of them here: each stands "
        "under a pseudonym of its own (`rare-…`), so that who recognises one of them does not know the others. What is computed "
        "by person from these tables (the model of Dawid and Skene, labels without an annotator) is approximate by so much."
    )


def _trust(manifest: dict[str, Any]) -> list[str]:
    rows = [
        f"- {row['what']} ({_SCALES[row['scale']]}): {row['alpha']:.3f}"
        + (f" ({row['low']:.3f} to {row['high']:.3f})" if row["low"] is not None else "")
        + f", {row['units']} items"
        for row in manifest["agreement"]
        if row["alpha"] is not None
    ]
    error = manifest["label_error"]
    return [
        "## How far to trust it",
        "Krippendorff's alpha over the annotations of this release, of the first round (95% two-way jackknife intervals):\n\n"
        + "\n".join(rows)
        if rows
        else "Agreement is undefined: no item has two annotations, or nobody said anything but one thing.",
        "The error of its labels was measured by an audit: see `label_error` in `manifest.json`."
        if error
        else f"The error of its labels was not measured{_audits(manifest['audits'])}.",
        *_certificate(manifest.get("certificate")),
        *(
            f"One person managed and worked here: {_line(waiver.get('reason', ''))}"
            for waiver in manifest["role_waivers"]
        ),
    ]


def _certificate(stated: dict[str, Any] | None) -> list[str]:
    if not stated:
        return []
    files = (
        "`certificate/` has the record: open `certificate/check.html` in a browser, or run `release_verify`."
        if stated["has_files"]
        else "The record isn't part of this release, because it holds labels that this release doesn't have."
    )
    said = (
        f"**At most {100 * stated['error']:g}% of {stated['labels']:,} labels are wrong, at a risk of {100 * stated['risk']:g}%** "
        f"(risk-limiting audit: {stated['judged']:,} items judged by experts, {stated['wrong']:,} labels wrong; audits begun: "
        f"{stated['audits']}, without a certificate: {stated['ended']}). {stated['certified']:,} of the {stated['released']:,} "
        f"labels of this release are among those. Hash published before the draw: `{stated['published']}`; seed: "
        f"`{_line(stated['seed'])}`, from {_line(stated['source'])}; key of the signature: `{stated['key']}`. {files}"
    )
    return [said]


def _baselines(table: str) -> list[str]:
    """Return the results of baselines: table rows unchanged, then all other lines as plain text."""
    lines = table.splitlines()
    rows = "\n".join(line for line in lines if line.startswith("|"))
    texts = [_line(line).lstrip("# ") for line in lines if not line.startswith("|")]
    return ["## Baselines", rows, *texts] if lines else []


def _audits(counted: dict[str, int] | None) -> str:
    if not counted or not counted["drawn"]:
        return ""
    were = "1 audit was" if counted["drawn"] == 1 else f"{counted['drawn']} audits were"
    return f": {were} drawn and {counted['called_off']} called off"


def _guideline(one: dict[str, Any]) -> str:
    note = f"\n\nWhat changed: {_line(one['note'])}" if one["note"] else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in one["body"].splitlines())
    return f"Version {one['version']}{note}\n\n{quoted}"
