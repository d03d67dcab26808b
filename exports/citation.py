"""The citation and license of a release, in machine-readable forms."""

import re
import unicodedata
from typing import Any

import orjson

SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


def spdx_of(manifest: dict[str, Any]) -> str | None:
    """Return the license if it has the form of an SPDX id; None if it doesn't, or wasn't stated."""
    licence = manifest["licence"]
    return licence if licence and SPDX.fullmatch(licence) else None


def is_one_line(text: str) -> bool:
    """Return whether a text fits on one line of a card: no line breaks, hidden characters or direction changes."""
    return not any(unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp"} for sign in text)


def reference(manifest: dict[str, Any]) -> str:
    """Return a one-line reference to cite a release."""
    who = "; ".join(manifest["authors"])
    return (
        f"{who}{'. ' if who else ''}{manifest['title']}, release {manifest['release']} ({manifest['frozen_at'][:4]})."
    )


def citation_text(manifest: dict[str, Any]) -> str:
    """Return ``CITATION.cff`` (version 1.2.0); an empty text if no authors are stated, since none are invented."""
    if not manifest["authors"]:
        return ""
    licence = spdx_of(manifest)
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this dataset, please cite it as below.",
        "type: dataset",
        f"title: {quoted(manifest['title'])}",
        "authors:",
        *(line for name in manifest["authors"] for line in _author(name)),
        f"version: {quoted(str(manifest['release']))}",
        f"date-released: {quoted(manifest['frozen_at'][:10])}",
        *([f"license: {quoted(licence)}"] if licence else []),
    ]
    return "\n".join(lines) + "\n"


def _author(name: str) -> list[str]:
    """Return the lines of an author: a person if written as ``Family, Given``, otherwise a single name."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and family and given:
        return [f"  - family-names: {quoted(family)}", f"    given-names: {quoted(given)}"]
    return [f"  - name: {quoted(name)}"]


def quoted(text: str) -> str:
    """Return a text as a quoted YAML string; YAML's double-quoted form is that of JSON."""
    return orjson.dumps(text).decode()
