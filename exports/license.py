"""The ``LICENSE`` file of a release: the full text of the chosen license, where we have it."""

from pathlib import Path
from typing import Any

from exports.citation import spdx_of

# Unchanged texts of the SPDX license list, of the licenses that datasets are published under.
TEXTS = Path(__file__).parent / "licenses"


def known_licenses() -> list[str]:
    """Return the SPDX ids of the licenses whose texts we have, in order."""
    return sorted(path.stem for path in TEXTS.glob("*.txt"))


def license_text(manifest: dict[str, Any]) -> str:
    """Return the license's full text, or its name and address if we don't have its text; empty if none is stated."""
    licence, spdx = manifest["licence"], spdx_of(manifest)
    if not licence:
        return ""
    known = {name.lower(): name for name in known_licenses()}
    if spdx and spdx.lower() in known:
        return (TEXTS / f"{known[spdx.lower()]}.txt").read_text(encoding="utf-8")
    address = f"\n\nhttps://spdx.org/licenses/{spdx}.html" if spdx else ""
    return f"License: {licence}{address}\n"
