"""Triples to write questions about: a subject, a predicate, and the object that is the answer.

As NLPCC's knowledge base has them, ``subject ||| predicate ||| object``; several objects have `` | `` between them.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from annotation.tasktypes.base import AnswerError, NewItem
from annotation.tasktypes.writing.texts import one_line
from storage.tables.faults import RowError
from storage.tables.values import text_of

BETWEEN = "|||"
SEVERAL = " | "
MOST_FACTS = 100


def item_from_row(row: Mapping[str, Any]) -> NewItem:
    """Return the triple of a row, with other names of its subject and the other facts about it, where they are given."""
    triple = _triple(row)
    content = {
        "question_text": triple[0],  # what lists show: no more than who answers blind may read
        **dict(zip(("subject", "predicate", "object"), triple, strict=True)),
        "aliases": _aliases(row.get("aliases")),
        "facts": _facts(row.get("facts"), triple),
    }
    identity = f" {BETWEEN} ".join(triple)
    return NewItem((text_of(row.get("id")) or identity)[:200], content, identity)


def _triple(row: Mapping[str, Any]) -> tuple[str, str, str]:
    if isinstance(row.get("triple"), str):
        parts = [part.strip() for part in row["triple"].split(BETWEEN)]
        if len(parts) != 3:
            raise RowError(f"expected subject {BETWEEN} predicate {BETWEEN} object", "triple")
        return _text(parts[0], "triple"), _text(parts[1], "triple"), _text(parts[2], "triple")
    return (
        _text(row.get("subject"), "subject"),
        _text(row.get("predicate"), "predicate"),
        _text(row.get("object"), "object"),
    )


def _aliases(value: Any) -> list[str]:
    names = value.split(SEVERAL) if isinstance(value, str) else value or []
    if not isinstance(names, list):
        raise RowError(f"expected a list of names, or names with{SEVERAL}between them", "aliases")
    return [_text(name, "aliases") for name in names if name]


def _facts(value: Any, triple: tuple[str, str, str]) -> list[list[str]]:
    """Return predicate and object of each fact about the subject, including the item's own, without duplicates.

    The order is unrelated to the item's own fact: otherwise, annotators who answer blind could find it by its position.
    """
    given = value or []
    if not isinstance(given, list) or len(given) > MOST_FACTS:
        raise RowError(f"expected a list of at most {MOST_FACTS} facts", "facts")
    facts = {*(_fact(one) for one in given), triple[1:]}
    return [
        list(fact) for fact in sorted(facts, key=lambda fact: sha256("\t".join((*triple, *fact)).encode()).digest())
    ]


def _fact(one: Any) -> tuple[str, str]:
    parts: Sequence[Any] = [part.strip() for part in one.split(BETWEEN)] if isinstance(one, str) else one
    if not isinstance(parts, list) or len(parts) != 2:
        raise RowError(f"expected predicate {BETWEEN} object, or a list of both", "facts")
    return _text(parts[0], "facts"), _text(parts[1], "facts")


def _text(value: Any, column: str) -> str:
    try:
        text = one_line(value, column)
    except AnswerError as error:
        raise RowError(str(error), column) from error
    if not text:
        raise RowError("is missing", column)
    if BETWEEN in text:
        raise RowError(f"{BETWEEN} stands between the parts of a triple and cannot be in one", column)
    return text
