"""Parse pages in a child process with limits, so that a hostile page costs itself and nobody else.

One child serves many pages of a job; it is ended and replaced when a page makes it exceed its time
or memory.
"""

import json
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import IO, Self

from documents.child import child_end, child_start, limit_memory
from documents.html import errors
from documents.html.canonical import canonical_text
from documents.html.closing import closed_page
from documents.html.display import display_html
from documents.html.errors import DocumentError, LimitExceeded
from documents.html.markup import MAX_DEPTH
from documents.html.tokens import Candidate, CandidateRules, Tokenization, dump, load, tokenize


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost."""

    max_bytes: int = 16 * 2**20
    max_depth: int = MAX_DEPTH
    max_nodes: int = 500_000
    max_tokens: int = 400_000
    seconds: float = 30.0
    memory_bytes: int = 2 * 2**30


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """Everything that is derived from a page's bytes."""

    text: str
    tokenization: Tokenization
    display: str
    title: str


def parse_page(raw: bytes, rules: CandidateRules, limits: Limits) -> ParsedPage:
    """Parse one page in this process (the limits on time and memory are the caller's)."""
    if len(raw) > limits.max_bytes:
        raise LimitExceeded(f"{len(raw):,} bytes, more than the {limits.max_bytes:,} allowed")
    text = canonical_text(raw)
    page = closed_page(text, max_nodes=limits.max_nodes, max_depth=limits.max_depth)
    tokenization = tokenize(page, rules)
    if len(tokenization.tokens) > limits.max_tokens:
        raise LimitExceeded(f"{len(tokenization.tokens):,} tokens, more than the {limits.max_tokens:,} allowed")
    return ParsedPage(page.text, tokenization, display_html(page.text, tokenization.candidates), page.title)


class PageParser:
    """Parse pages one after another in a limited child process; use as a context manager."""

    def __init__(self, rules: CandidateRules | None = None, limits: Limits | None = None) -> None:
        self.rules = rules or CandidateRules()
        self.limits = limits or Limits()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            child_end(self._child)
        self._child = None

    def parse(self, raw: bytes) -> ParsedPage:
        """Return the parsed page.

        Raises
        ------
        DocumentError
            The page is not usable or exceeds a limit; the parser itself goes on working.
        """
        text, tokenization, display, title = self._ask(raw, b"")
        return ParsedPage(text.decode(), load(tokenization), display.decode(), title.decode())

    def display(self, text: str, candidates: Sequence[Candidate]) -> str:
        """Return a page for reading whose candidates are known already (those of a published file)."""
        return self._ask(text.encode(), dump(Tokenization([], list(candidates))))[2].decode()

    def _ask(self, raw: bytes, known: bytes) -> list[bytes]:
        if len(raw) > self.limits.max_bytes:
            raise LimitExceeded(f"{len(raw):,} bytes, more than the {self.limits.max_bytes:,} allowed")
        child = self._started()
        try:
            _send(child.stdin, raw)
            _send(child.stdin, known)
            if not _answers_within(child.stdout, self.limits.seconds):
                self.close()
                raise LimitExceeded(f"not parsed within {self.limits.seconds:g} seconds")
            if error := _receive(child.stdout).decode():
                kind, _, message = error.partition(" ")
                raise getattr(errors, kind)(message)
            return [_receive(child.stdout) for _ in range(4)]
        except (BrokenPipeError, EOFError) as error:
            self.close()
            raise LimitExceeded("the page needs more memory than allowed") from error

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = child_start("documents.html.sandbox", self._options())
        return self._child

    def _options(self) -> str:
        rules = asdict(self.rules) | {"end_headings": sorted(self.rules.end_headings)}
        return json.dumps({"rules": rules, "limits": asdict(self.limits)})


def _send(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _answers_within(pipe: IO[bytes] | None, seconds: float) -> bool:
    assert pipe is not None
    return bool(select.select([pipe], [], [], seconds)[0])


def _receive(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    header = pipe.read(8)
    length = int.from_bytes(header, "big")
    data = pipe.read(length)
    if len(header) < 8 or len(data) < length:
        raise EOFError
    return data


def _displayed(raw: bytes, known: bytes) -> ParsedPage:
    """Return only the page for reading: its candidates are given."""
    return ParsedPage("", Tokenization([], []), display_html(raw.decode(), load(known).candidates), "")


def _serve(options: str) -> None:
    """Answer requests until the parent goes away: an error line, then text, tokens and display if it is empty."""
    chosen = json.loads(options)
    rules = CandidateRules(**chosen["rules"] | {"end_headings": frozenset(chosen["rules"]["end_headings"])})
    limits = Limits(**chosen["limits"])
    limit_memory(limits.memory_bytes)
    while True:
        try:
            raw, known = _receive(sys.stdin.buffer), _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            page = _displayed(raw, known) if known else parse_page(raw, rules, limits)
        except DocumentError as error:
            answer = [f"{type(error).__name__} {error}".encode()]
        except MemoryError:
            answer = [b"LimitExceeded the page needs more memory than allowed"]
        except Exception as error:  # noqa: BLE001  whatever a page provokes is that page's error, said in one line
            answer = [f"DocumentError the page could not be parsed ({type(error).__name__}: {error})".encode()]
        else:
            answer = [b"", page.text.encode(), dump(page.tokenization), page.display.encode(), page.title.encode()]
        for part in answer:
            _send(sys.stdout.buffer, part)


if __name__ == "__main__":
    _serve(sys.argv[1])
