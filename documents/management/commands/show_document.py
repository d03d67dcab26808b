"""``manage.py show_document``: show how Quorate parses a page."""

import sys
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.html.errors import DocumentError
from documents.html.sandbox import PageParser
from documents.services import limits


class Command(BaseCommand):
    """Print a page as one record of the original Natural Questions format."""

    help = (
        "Print a page's tokens and candidates as one record of the original Natural Questions format, with an "
        "empty question and no annotations. No database is needed. Example: manage.py show_document page.html | "
        "head -c 300"
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", help="an HTML file in UTF-8, or - for standard input")
        parser.add_argument("--url", default="", help="URL of the page, written to document_url")
        parser.add_argument("--title", default="", help="the page's title (default: its <title>)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Parse and print."""
        raw = sys.stdin.buffer.read() if options["file"] == "-" else self._read(options["file"])
        try:
            with PageParser(limits=limits()) as parser:
                page = parser.parse(raw)
        except DocumentError as error:
            raise CommandError(f"{options['file']}: {error}") from error
        record = {
            "annotations": [],
            "document_html": page.text,
            "document_title": options["title"] or page.title,
            "document_tokens": page.tokenization.tokens,
            "document_url": options["url"],
            "example_id": 0,
            "long_answer_candidates": page.tokenization.candidates,
            "question_text": "",
            "question_tokens": [],
        }
        line = orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        output = getattr(self.stdout._out, "buffer", None)  # noqa: SLF001  bytes, where there is a real terminal
        if output is None:
            self.stdout.write(line.decode(), ending="")
        else:
            output.write(line)
            output.flush()

    def _read(self, name: str) -> bytes:
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise CommandError(f"{name}: {error.strerror}") from error
