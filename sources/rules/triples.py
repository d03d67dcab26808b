"""Lines of a knowledge base: NLPCC's own form, three columns, or N-Triples."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from annotation.tasktypes.kbqa.items import BETWEEN
from storage.text_files import LineFault

# https://www.w3.org/TR/n-triples/, without what has no name of its own (blank nodes).
_NAME = r"<([^<>\"{}|^`\\\x00-\x20]*)>"
_LITERAL = r"\"((?:[^\"\\\n\r]|\\.)*)\"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?"
_N_TRIPLE = re.compile(rf"\s*{_NAME}\s+{_NAME}\s+(?:{_NAME}|{_LITERAL})\s*\.\s*(?:#.*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tbnrf\"'\\]))")
_SIGNS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


class Triple(NamedTuple):
    """A fact."""

    subject: str
    predicate: str
    object: str


def triple_of(line: str) -> Triple:
    """Return the triple of a line in any of the forms, with single spaces.

    Raises
    ------
    LineFault
        The line is in none of the forms, or a part of it is empty.
    """
    if line.lstrip().startswith("<"):
        parts = _n_triple(line)
    else:
        parts = line.split(BETWEEN) if BETWEEN in line else line.split("\t")
    if len(parts) != 3:
        raise LineFault(
            f"expected subject, predicate and object with {BETWEEN} or tabs between them, found {len(parts)} parts"
        )
    found = [" ".join(part.split()) for part in parts]
    if not all(found) or any(BETWEEN in part for part in found):
        raise LineFault("subject, predicate or object is empty")
    return Triple(*found)


def _n_triple(line: str) -> list[str]:
    matched = _N_TRIPLE.fullmatch(line)
    if matched is None:
        raise LineFault("is no N-Triple whose subject has a name")
    subject, predicate, name, literal = matched.groups()
    return [_local(subject), _local(predicate), _local(name) if name is not None else _unescaped(literal)]


def _local(name: str) -> str:
    """Return the readable part of an IRI: its last part, with spaces."""
    return unquote(re.split(r"[/#]", name.rstrip("/#"))[-1]).replace("_", " ")


def _unescaped(literal: str) -> str:
    def sign(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None:
            return _SIGNS.get(match[3], match[3])
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(sign, literal)
