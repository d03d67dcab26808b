"""Write the files of a frozen release, one finished file after another."""

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from exports.card import card_text
from exports.families import FAMILIES
from exports.models import Release
from exports.selectors.members import provenance_of, role_waivers, shortfall_rows
from exports.targets import Progress, Target
from exports.writers.lines import write_lines

MANIFEST_VERSION = 2
CODE_VERSION = "0.1.0"  # as pyproject.toml says; a test compares them
CARD = "README.md"
FOLDER_PREFIX = "quorate-release-"


def build_release(
    release: Release, target: Target, progress: Progress, finished: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Write every file of a release and return its manifest.

    Parameters
    ----------
    progress: called after each file with items done, items in all, the file's name and what to keep.
    finished: what an earlier attempt kept: those files are not written again.
    """
    files: dict[str, Any] = dict(finished or {})
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX) as folder:
        items = FAMILIES[release.family].write(release, Path(folder), target, progress, files)
        shortfall = write_lines(Path(folder) / "shortfall", shortfall_rows(release))
        target.put("sidecar/shortfall.jsonl.gz", Path(folder) / "shortfall")
        files["sidecar/shortfall.jsonl.gz"] = asdict(shortfall)
        manifest = _manifest(release, files, items, shortfall.rows)
        _put_text(target, Path(folder), "SHA256SUMS", _sums(files))
        if card := card_text(release, manifest):
            _put_text(target, Path(folder), CARD, card)
        _put_text(target, Path(folder), "manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n")  # fmt: skip
    return manifest


def _manifest(release: Release, files: dict[str, Any], items: dict[str, int], shortfall: int) -> dict[str, Any]:
    return {
        "manifest_version": MANIFEST_VERSION,
        "campaign": release.campaign.slug,
        "title": release.campaign.title,
        "synthetic": release.campaign.is_synthetic,
        "release": release.number,
        "format": release.family,
        "ways": release.ways,
        "seed": release.seed,
        "splits": items,
        "shortfall": shortfall,
        "frozen_at": release.created_at.isoformat(timespec="seconds"),
        "code": f"quorate {CODE_VERSION}",
        "licence": release.frozen.get("licence"),  # none: not stated
        **provenance_of(release),
        "role_waivers": list(role_waivers(release)),
        "label_error": release.frozen.get("label_error"),
        "files": dict(sorted(files.items())),
    }


def _sums(files: dict[str, Any]) -> str:
    return "".join(f"{file['sha256']}  {name}\n" for name, file in sorted(files.items()))


def _put_text(target: Target, folder: Path, name: str, text: str) -> None:
    path = folder / "text"
    path.write_text(text, encoding="utf-8")
    target.put(name, path)
