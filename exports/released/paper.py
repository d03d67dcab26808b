"""Text about a release for a paper: LaTeX tables and a methods paragraph, made from the release folder alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from exports.released.folder import FolderError, ReleasedFolder

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "α": r"$\alpha$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex(text: Any) -> str:
    """Return a text escaped for LaTeX, on one line."""
    return "".join(_SPECIAL.get(sign, sign if sign.isprintable() else " ") for sign in str(text))


def tables_tex(folder: ReleasedFolder) -> str:
    """Return the tables of a release for a paper (they need the package booktabs).

    Raises
    ------
    FolderError
        The manifest lacks required entries, or a table is damaged.
    """
    manifest = folder.manifest
    try:
        parts = [
            "% Tables of "
            + latex(f"{manifest['campaign']}, release {manifest['release']}")
            + "; they need \\usepackage{booktabs}.",
            table_tex("Items of each split.", ("Split", "Items"), manifest["splits"].items()),
            *_labels(folder),
            *_agreement(manifest["agreement"]),
            table_tex("Annotations by what became of them.", ("State", "Annotations"), _states(folder)),
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FolderError(f"{folder.path}: the manifest is incomplete: {error}") from error
    return "\n\n".join(parts) + "\n"


def methods_tex(folder: ReleasedFolder) -> str:
    """Return a LaTeX paragraph on how a release was created, based only on the manifest.

    Raises
    ------
    FolderError
    """
    manifest = folder.manifest
    try:
        return " ".join(latex(one) for one in _sentences(manifest)) + "\n"
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FolderError(f"{folder.path}: the manifest is incomplete: {error}") from error


def _sentences(manifest: dict[str, Any]) -> Iterable[str]:
    items = sum(manifest["splits"].values())
    ways = ", ".join(f"{count:,} by {way}" for way, count in manifest["annotations_via"].items())
    if manifest["synthetic"]:
        yield "The answers were made by a synthetic crowd."
    yield f"The dataset has {items:,} items ({'; '.join(f'{name} {n:,}' for name, n in manifest['splits'].items())})."
    yield f"It rests on {manifest['ways']} annotations an item" + (f" ({ways})." if ways else ".")
    if manifest["shortfall"]:
        yield f"{manifest['shortfall']:,} items with too few annotations were left out."
    for row in manifest["agreement"]:
        if row["alpha"] is not None:
            yield f"Agreement on {row['what']} was {_alpha(row)} over {row['units']:,} items."
    error = manifest["label_error"]
    if error:
        yield (
            f"An audit of {error['judged']:,} labels drawn by chance, judged blind by experts, found {100 * error['share']:.1f}% "
            f"of the labels wrong (95%: {100 * error['low']:.1f} to {100 * error['high']:.1f}%)."
        )
    else:
        yield "The error of the labels was not measured."
    certificate = manifest.get("certificate")
    if certificate:
        covered = certificate["certified"] == certificate["released"] and not certificate["missing"]
        yield (
            f"At most {100 * certificate['error']:g}% of {certificate['labels']:,} labels differ from an expert's (risk-limiting "
            f"audit, risk {100 * certificate['risk']:g}%; {certificate['judged']:,} items judged in an order drawn from "
            f"{certificate['source']} after the labels' hash was published)."
        )
        if not covered:
            yield (
                f"{certificate['certified']:,} of the {certificate['released']:,} labels of this release are among these "
                f"{certificate['labels']:,}."
            )
    yield from _pay(manifest.get("work"))
    yield f"It was collected with {manifest['code']}" + (
        f" and is published under {manifest['licence']}." if manifest["licence"] else "."
    )


def _alpha(row: dict[str, Any]) -> str:
    interval = f" (95%: {row['low']:.2f} to {row['high']:.2f})" if row["low"] is not None else ""
    return f"α = {row['alpha']:.2f}{interval}"


def _pay(work: dict[str, Any] | None) -> Iterable[str]:
    if work and work["people_paid"]:
        rates = work["cents_an_hour"].get("active") or work["cents_an_hour"].get("server")
        hourly = f", half of them ${rates['median'] / 100:.2f} an hour or more" if rates else ""
        yield f"{work['people_paid']:,} people were paid ${(work['reward_cents'] + work['bonus_cents']) / 100:,.2f}{hourly}."


def _labels(folder: ReleasedFolder) -> Iterable[str]:
    if "labels" not in folder.tables:
        return
    counts: Counter[tuple[str, str]] = Counter()
    for row in folder.rows("labels", ("split", "label")):
        counts[str(row["split"]), str(row["label"])] += 1
    labels = sorted({label for _split, label in counts})
    splits = [split for split in folder.manifest["splits"] if any(counts[split, label] for label in labels)]
    rows = [(label, *(counts[split, label] for split in splits)) for label in labels]
    yield table_tex("Labels of each split.", ("Label", *splits), rows)


def _agreement(found: Sequence[dict[str, Any]]) -> Iterable[str]:
    rows = [(row["what"], row["scale"], _alpha(row), row["units"]) for row in found if row["alpha"] is not None]
    if rows:
        yield table_tex("Krippendorff's α, first round.", ("Of", "Scale", "α", "Items"), rows)


def _states(folder: ReleasedFolder) -> list[tuple[str, int]]:
    return Counter(str(row["state"]) for row in folder.rows("judgments", ("state",))).most_common()


def table_tex(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in LaTeX, for the package booktabs."""
    lines = [" & ".join(map(latex, head)) + r" \\ \midrule"]
    lines += [" & ".join(f"{one:,}" if isinstance(one, int) else latex(one) for one in row) + r" \\" for row in rows]
    body = "\n".join(lines)
    columns = "l" + "r" * (len(head) - 1)
    return (
        f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
        f"\\caption{{{latex(caption)}}}\n\\end{{table}}"
    )
