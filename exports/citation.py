"""How a release wants to be cited, and under which license it stands, in the words of those who read that by machine."""

import re
import unicodedata
from typing import Any

import orjson

SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


def spdx_of(manifest: dict[str, Any]) -> str | None:
    """Return the license if it can be the id of one; None if it is something else, or was not stated."""
    licence = manifest["licence"]
    return licence if licence and SPDX.fullmatch(licence) else None


def is_one_line(text: str) -> bool:
    """Return whether a text can stand in a line of a card: nothing in it breaks the line, hides or turns the direction."""
    return not any(unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp"} for sign in text)


def reference(manifest: dict[str, Any]) -> str:
    """Return one line to cite a release by."""
    who = "; ".join(manifest["authors"])
    return (
        f"{who}{'. ' if who else ''}{manifest['title']}, release {manifest['release']} ({manifest['frozen_at'][:4]})."
    )


def citation_text(manifest: dict[str, Any]) -> str:
    """Return ``CITATION.cff`` (version 1.2.0); nothing where nobody said who the authors are: none are invented."""
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
    """Return the lines of an author: a person as ``Family, Given``, anything else as a name in one piece."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and family and given:
        return [f"  - family-names: {quoted(family)}", f"    given-names: {quoted(given)}"]
    return [f"  - name: {quoted(name)}"]


def quoted(text: str) -> str:
    """Return a text as YAML reads it: its double-quoted form is that of JSON."""
    return orjson.dumps(text).decode()
