"""The first rows of a release's tables."""

import gzip
import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson
from django.core.files.storage import storages

from exports.models import Release

ROWS, LONGEST = 10, 120  # characters of a cell
SHOWN = ("labels", "judgments", "items")


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of a table, as text."""

    key: str
    columns: list[str]
    rows: list[list[str]]


def previews(release: Release) -> list[Preview]:
    """Return the first rows of a release's main tables; an empty list for releases without tables."""
    tables = release.manifest.get("tables", {})
    found = [_preview(release, key, [one["name"] for one in tables[key]["columns"]]) for key in SHOWN if key in tables]
    return [one for one in found if one is not None]


def _preview(release: Release, key: str, columns: list[str]) -> Preview | None:
    try:
        with storages["releases_now"].open(f"{release.folder}/tables/{key}.jsonl.gz") as raw, gzip.open(raw) as lines:
            rows = [orjson.loads(line) for line in islice(lines, ROWS)]
    except OSError:  # the file was removed, or its store is away: the list of files still says what it was
        return None
    return Preview(key, columns, [[_cell(row.get(name)) for name in columns] for row in rows])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
