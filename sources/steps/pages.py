"""``source pages``: finds the page for each question in search results."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sources.records import read_records
from sources.rules.faults import RecordFault
from sources.rules.pages import FIRST, addresses_of, wikipedia_page
from sources.rules.queries import text_of
from sources.step import Given, Outputs, StepError
from storage.tables import values
from storage.text_files import FileFault

KEY, VERSION = "pages", 1
HELP = (
    "Pair each question with the first Wikipedia page among its top search results, as in Natural Questions. "
    "Questions without such a page are dropped. Import the pages themselves with import_documents."
)
KEPT, DROPPED, ADDRESSES = "kept.jsonl", "dropped.jsonl", "addresses.txt"
NO_RESULTS, NO_PAGE, TWICE = "no results", "no page", "question stands twice"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="questions with id and question: kept.jsonl from the heuristics step",
    )
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        metavar="FILE",
        help="search results, one row per question: id or question, and a list of results with url, link, or href",
    )
    parser.add_argument(
        "--first",
        type=int,
        default=FIRST,
        metavar="N",
        help=f"number of top results to search (default {FIRST}, as in the paper)",
    )
    parser.add_argument("--language", default="en", metavar="CODE", help="language of the Wikipedia (default en)")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the questions and the results."""
    return {"questions": [options["questions"]], "results": [options["results"]]}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the number of results considered, and the Wikipedia's language.

    Raises
    ------
    StepError
    """
    if options["first"] < 1 or not options["language"].replace("-", "").isalnum():
        raise StepError("results are at least 1, and a language is a code such as en")
    return {"first": options["first"], "language": options["language"]}


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write each question with its page or the reason for dropping it; then each page's address once."""
    out.begin(KEPT, DROPPED, ADDRESSES)
    by_id, by_text = _results(given)
    dropped = dict.fromkeys((NO_RESULTS, NO_PAGE, TWICE), 0)
    ranks = dict.fromkeys(range(1, given.parameters["first"] + 1), 0)
    seen: set[str] = set()
    pages: dict[str, None] = {}
    read = 0
    for number, (key, text, row) in read_records(given.file("questions"), _asked):
        read += 1
        found = by_id.get(key, by_text.get(text))
        page = wikipedia_page(found, **given.parameters) if found is not None else None
        origin = given.origin(given.file("questions"), number, row.get("origin"))
        told = {"id": key, "question": text, "origin": origin}
        if text in seen or page is None:
            why = TWICE if text in seen else NO_RESULTS if found is None else NO_PAGE
            dropped[why] += 1
            out.row(DROPPED, {**told, "why": why})
            continue
        seen.add(text)
        ranks[page.rank] += 1
        pages[page.url] = None
        out.row(KEPT, {**told, "document": document_name(page.title), "url": page.url, "rank": page.rank})
    for url in pages:
        out.line(ADDRESSES, url)
    return {
        "read": read,
        "kept": len(seen),
        "dropped": dropped,
        "pages": len(pages),
        "ranks": {str(rank): n for rank, n in ranks.items()},
    }


def document_name(title: str) -> str:
    """Return the name under which an article's page is imported; it is a valid file name on any system."""
    return "".join("_" if sign in '/\\:*?"<>|' else sign for sign in title)[:200] + ".html"


def _results(given: Given) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the addresses in each row of results, by id and by question."""
    by_id: dict[str, list[str]] = {}
    by_text: dict[str, list[str]] = {}
    path, most = given.file("results"), given.parameters["first"]
    for number, (key, text, addresses) in read_records(path, _found):
        for name, known in ((key, by_id), (text, by_text)):
            if name and name in known:
                raise FileFault(f"{path}: row {number}: {name[:60]} stands in an earlier row")
            if name:
                known[name] = addresses[:most]
    return by_id, by_text


def _asked(row: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    text = text_of(row)
    return values.text_of(row.get("id")) or text, text, row


def _found(row: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    text = row.get("question", row.get("query", ""))
    key = row.get("id", "")
    if not isinstance(text, str) or not isinstance(key, str) or not (text.strip() or key):
        raise RecordFault("question", "is missing (column id, question or query)")
    return key, " ".join(text.split()), addresses_of(row)


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    ranks = ", ".join(f"{n:,} at place {rank}" for rank, n in report["ranks"].items() if n)
    lines = [
        f"{report['read']:,} questions read, {report['kept']:,} with one of {report['pages']:,} pages ({ranks or 'none'})"
    ]
    return "\n".join(lines + [f"  {n:>8,} dropped: {why}" for why, n in report["dropped"].items()])
