"""A limit on the memory of commands that read untrusted files.

Limits on lines, ratios and rows refuse what can be known beforehand. The unpacked size of a file is known only after
unpacking, and statements about it (the footer of a Parquet file, say) were written by the file's author. So the process
itself is limited: a file that was made to exhaust memory ends its command with a message, and does no other harm.
"""

import resource
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

MOST_GIB = 2.0  # the largest real files take a fraction of it


class OutOfMemory(ValueError):
    """A file takes more memory than was allowed."""


def add_memory_argument(parser: ArgumentParser) -> None:
    """Add ``--memory``."""
    parser.add_argument(
        "--memory",
        type=float,
        default=MOST_GIB,
        metavar="GIB",
        help=f"memory that it may take (default {MOST_GIB:g} GiB): no file can fill the machine",
    )


@contextmanager
def memory_limited(gib: float) -> Iterator[None]:
    """Let this process allocate this much more memory for data inside the context.

    Raises
    ------
    OutOfMemory
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data() + int(gib * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    except MemoryError:
        raise OutOfMemory(
            f"this takes more than {gib:g} GiB of memory, as files that were made to fill memories do; if they are real and "
            "larger than others, allow more with --memory GIB"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Return the bytes that count towards the limit already: libraries reserve some when they are loaded."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123  not every system has it
            return next(int(line.split()[1]) for line in file if line.startswith("VmData:")) * 1024
    except (OSError, StopIteration):
        return 0
