"""Parse pages in a child process with limits, so that a hostile page affects no other page.

One child serves many pages of a job. If a page makes it exceed its time or memory, the child is ended
and replaced.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Self, TypeVar

from documents.html import errors
from documents.html.canonical import canonical_text
from documents.html.closing import closed_page
from documents.html.display import display_html
from documents.html.errors import DocumentError, LimitExceeded
from documents.html.markup import MAX_DEPTH
from documents.html.tokens import Candidate, CandidateRules, Tokenization, dump, load, tokenize
from storage.child import child_end, child_start, limit_memory


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for parsing one page."""

    max_bytes: int = 16 * 2**20
    max_depth: int = MAX_DEPTH
    max_nodes: int = 500_000
    max_tokens: int = 400_000
    seconds: float = 30.0  # of CPU, so that what can be imported does not depend on what else the machine does
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
    if len(tokenization.texts) > limits.max_tokens:
        raise LimitExceeded(f"{len(tokenization.texts):,} tokens, more than the {limits.max_tokens:,} allowed")
    return ParsedPage(page.text, tokenization, display_html(page.text, tokenization.candidates), page.title)


_MOST_PARSERS = 4  # each may take the memory of its limit
_PATIENCE = 20  # times the limit on CPU, for a page that waits for its turn on a busy machine


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
            The page can't be used or exceeds a limit; the parser itself continues to work.
        """
        text, tokenization, display, title = self._ask(raw, b"")
        return ParsedPage(text.decode(), load(tokenization), display.decode(), title.decode())

    def display(self, text: str, candidates: Sequence[Candidate]) -> str:
        """Return a page for reading whose candidates are known already (those of a published file)."""
        return self._ask(text.encode(), dump(Tokenization.of([], list(candidates))))[2].decode()

    def _ask(self, raw: bytes, known: bytes) -> list[bytes]:
        if len(raw) > self.limits.max_bytes:
            raise LimitExceeded(f"{len(raw):,} bytes, more than the {self.limits.max_bytes:,} allowed")
        child = self._started()
        try:
            _send(child.stdin, raw)
            _send(child.stdin, known)
            _await(child.stdout, self.limits.seconds * _PATIENCE)
            if error := _receive(child.stdout).decode():
                kind, _, message = error.partition(" ")
                raise getattr(errors, kind)(message)
            return [_receive(child.stdout) for _ in range(4)]
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            too_slow = isinstance(error, TimeoutError) or child.wait() == -signal.SIGPROF
            self.close()
            why = (
                f"not parsed within {self.limits.seconds:g} seconds"
                if too_slow
                else "the page needs more memory than allowed"
            )
            raise LimitExceeded(why) from error

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = child_start("documents.html.sandbox", self._options())
        return self._child

    def _options(self) -> str:
        rules = asdict(self.rules) | {"end_headings": sorted(self.rules.end_headings)}
        return json.dumps({"rules": rules, "limits": asdict(self.limits)})


P = TypeVar("P")


def parsed_in_order(
    pages: Iterable[P], raw_of: Callable[[P], bytes], rules: CandidateRules, limits: Limits
) -> Iterator[tuple[P, ParsedPage | DocumentError]]:
    """Yield each page with its parsed form or its error, in order; one child process per core works in parallel."""
    parsers: SimpleQueue[PageParser] = SimpleQueue()

    def parse(page: P) -> ParsedPage | DocumentError:
        parser = parsers.get()
        try:
            return parser.parse(raw_of(page))
        except DocumentError as error:
            return error
        finally:
            parsers.put(parser)

    with ExitStack() as stack:
        count = min(len(os.sched_getaffinity(0)), _MOST_PARSERS)
        for _ in range(count):
            parsers.put(stack.enter_context(PageParser(rules, limits)))
        pool = stack.enter_context(ThreadPoolExecutor(count))
        ahead: deque[tuple[P, Future[ParsedPage | DocumentError]]] = deque()
        for page in pages:
            ahead.append((page, pool.submit(parse, page)))
            if len(ahead) > count:
                first, future = ahead.popleft()
                yield first, future.result()
        for first, future in ahead:
            yield first, future.result()


def _send(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _await(pipe: IO[bytes] | None, seconds: float) -> None:
    assert pipe is not None
    if not select.select([pipe], [], [], seconds)[0]:
        raise TimeoutError


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
    return ParsedPage("", Tokenization.of([], []), display_html(raw.decode(), load(known).candidates), "")


def _serve(options: str) -> None:
    """Answer requests until the parent ends: an error line, and if that is empty, text, tokens and display."""
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
            signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # ends this process, whatever it is doing
            page = _displayed(raw, known) if known else parse_page(raw, rules, limits)
        except DocumentError as error:
            answer = [f"{type(error).__name__} {error}".encode()]
        except MemoryError:
            answer = [b"LimitExceeded the page needs more memory than allowed"]
        except Exception as error:  # noqa: BLE001  whatever a page provokes is that page's error, said in one line
            answer = [f"DocumentError the page could not be parsed ({type(error).__name__}: {error})".encode()]
        else:
            answer = [b"", page.text.encode(), dump(page.tokenization), page.display.encode(), page.title.encode()]
        signal.setitimer(signal.ITIMER_PROF, 0)
        for part in answer:
            _send(sys.stdout.buffer, part)


if __name__ == "__main__":
    _serve(sys.argv[1])
