"""Write the files of a frozen release, one finished file after another."""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from database.bulk import rarely_collected
from exports.card import card_text
from exports.citation import citation_text
from exports.croissant import croissant_text
from exports.fair_work import fair_work_text
from exports.families import FAMILIES
from exports.formats.tables import Table
from exports.license import license_text
from exports.models import Release
from exports.selectors.agreement import agreement_in
from exports.selectors.certificates import certificate_files
from exports.selectors.errata import errata_rows
from exports.selectors.members import Pseudonyms, provenance_of, role_waivers, shortfall_rows
from exports.selectors.overlap import page_overlap
from exports.selectors.privacy import Privacy, privacy_of
from exports.tables import tables_of
from exports.targets import Progress, Target, table_put
from exports.writers.lines import write_chunks, write_lines
from web.version import VERSION, commit

MANIFEST_VERSION = 3
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
CARD, CITATION, CROISSANT, FAIR_WORK = "README.md", "CITATION.cff", "croissant.json", "FAIR-WORK.md"
LICENSE = "LICENSE"
SHORTFALL, ERRATA = "sidecar/shortfall.jsonl.gz", "sidecar/errata.jsonl.gz"
FOLDER_PREFIX = "quorate-release-"


def build_release(
    release: Release, target: Target, progress: Progress, finished: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Write every file of a release and return its manifest.

    Parameters
    ----------
    progress: called after each file with items done, total items, the file's name and the record to keep.
    finished: records of an earlier attempt's files, which are not written again.
    """
    files: dict[str, Any] = dict(finished or {})
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX) as name, rarely_collected():
        folder = Path(name)
        items = FAMILIES[release.family].write(release, folder, target, progress, files)
        privacy = privacy_of(release) if release.has_tables else Privacy()
        tables = tables_of(release, Pseudonyms(release.campaign_id, privacy.rare)) if release.has_tables else []
        for table in tables:
            table_put(table, folder, target, files)
            progress(sum(items.values()), sum(items.values()), table.parquet, files)
        sidecars = {
            SHORTFALL: shortfall_rows(release),
            **({ERRATA: errata_rows(release)} if release.frozen.get("errata") else {}),
        }
        for sidecar, rows in sidecars.items():
            files[sidecar] = asdict(write_lines(folder / "sidecar", rows))
            target.put(sidecar, folder / "sidecar")
        for path, chunks in certificate_files(release).items():
            files[path] = asdict(write_chunks(folder / "certificate", chunks))
            target.put(path, folder / "certificate")
        manifest = _manifest(release, files, items, files[SHORTFALL]["rows"], tables) | {"privacy": privacy.report}
        _describe(release, manifest, folder, target)
    return manifest


def descriptions_of(release: Release) -> list[str]:
    """Return the descriptive files of a release, which its manifest doesn't list."""
    there = {
        CARD: "card" in release.frozen,
        CITATION: bool(release.frozen.get("authors")),
        CROISSANT: release.has_tables,
        FAIR_WORK: "work" in release.frozen,
        LICENSE: _has_license_file(release),
    }
    return [*(name for name, is_there in there.items() if is_there), MANIFEST, SUMS]


def _has_license_file(release: Release) -> bool:
    """Return whether a release has a license file; older ones were written without, and don't change."""
    return bool(release.frozen.get("has_license_file") and release.frozen.get("licence"))


def _manifest(
    release: Release, files: dict[str, Any], items: dict[str, int], shortfall: int, tables: Sequence[Table]
) -> dict[str, Any]:
    return {
        "manifest_version": MANIFEST_VERSION,
        "campaign": release.campaign.slug,
        "title": release.frozen.get("card", {}).get("title", release.campaign.title),
        "synthetic": release.campaign.is_synthetic,
        "release": release.number,
        "format": release.family,
        "ways": release.ways,
        "seed": release.seed,
        "splits": items,
        "shortfall": shortfall,
        "labels_only": release.labels_only,
        "sealed": release.sealed,
        "frozen_at": release.created_at.isoformat(timespec="seconds"),
        "code": f"quorate {VERSION}",
        "commit": commit(),
        "licence": release.frozen.get("licence"),  # none: not stated
        "authors": release.frozen.get("authors", []),
        **provenance_of(release),
        "since": release.frozen.get("since"),  # none: the first of its form
        "role_waivers": list(role_waivers(release)),
        "agreement": agreement_in(release, takes_ways=FAMILIES[release.family].takes_ways),
        "label_error": release.frozen.get("label_error"),
        "audits": release.frozen.get("audits"),  # none: not counted when it was frozen
        "certificate": release.frozen.get("certificate"),  # none: there was none
        "page_overlap": page_overlap(release),
        "errata": len(release.frozen.get("errata", [])),
        "work": release.frozen.get("work"),
        "tables": {
            **{table.key: table.described() for table in tables},
            **(FAMILIES[release.family].tables(release) if tables else {}),
        },
        "files": dict(sorted(files.items())),
    }


def _describe(release: Release, manifest: dict[str, Any], folder: Path, target: Target) -> None:
    """Write the files that describe the data, then the checksums of all files."""
    texts = {
        CARD: card_text(release, manifest),
        CITATION: citation_text(manifest),
        CROISSANT: croissant_text(release, manifest),
        FAIR_WORK: fair_work_text(manifest),
        LICENSE: license_text(manifest) if _has_license_file(release) else "",
        MANIFEST: orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n",
    }
    sums = {name: file["sha256"] for name, file in manifest["files"].items()}
    for name, text in texts.items():
        if text:
            _put_text(target, folder, name, text)
            sums[name] = hashlib.sha256(text.encode()).hexdigest()
    _put_text(target, folder, SUMS, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))


def _put_text(target: Target, folder: Path, name: str, text: str) -> None:
    path = folder / "text"
    path.write_bytes(text.encode())
    target.put(name, path)
