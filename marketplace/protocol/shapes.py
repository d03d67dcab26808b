"""Check the input of an operation against the service model.

boto3 checks types, required members, and minimum lengths and values. It sends values that break
a pattern, an enum or a maximum, so these are checked here.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from marketplace.protocol.errors import SerializationError, ValidationError
from marketplace.protocol.service import input_shape, shape

_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "list": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "timestamp": (int, float),
}
# What an integer and a long can hold; beyond it the wire format is broken, not the value.
_MOST_LISTED = 10
_LONGEST_SHOWN = 200
_BITS = {"integer": 31, "long": 63}


def validate_input(operation: str, value: Any) -> dict[str, Any]:
    """Return an operation's input without null members, if it fits its shape.

    Raises
    ------
    SerializationError
        A value has the wrong type, or a member is unknown.
    ValidationError
        A value is missing or breaks an enum, a pattern, a length or a range; the message lists the first ten problems.
    """
    name = input_shape(operation)
    _check_types(name, value, "")
    violations = list(islice(_violations(name, value, ""), _MOST_LISTED))
    if violations:
        raise ValidationError(violations)
    checked: dict[str, Any] = _without_nulls(value)
    return checked


def _without_nulls(value: Any) -> Any:
    """Return a value without members that are null: they count as not given."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _check_types(name: str, value: Any, path: str) -> None:
    described = shape(name)
    kind = described["type"]
    fits: bool = isinstance(value, _TYPES[kind])
    if not fits or (isinstance(value, bool) and kind != "boolean"):
        raise SerializationError(f"{path or 'the body'} must be a {kind}, not {type(value).__name__}")
    if kind == "string" and not _is_storable(value):
        raise SerializationError(f"{path} holds a character that is not text (U+0000 or half of a pair)")
    if kind in _BITS and not -(1 << _BITS[kind]) <= value < 1 << _BITS[kind]:
        raise SerializationError(f"{path} does not fit into a{'n' if kind == 'integer' else ''} {kind}")
    if kind == "structure":
        for member, inner in value.items():
            if member not in described["members"]:
                raise SerializationError(f"{path + '.' if path else ''}{member} is not a member of {name}")
            if inner is not None:
                _check_types(described["members"][member]["shape"], inner, f"{path}.{member}" if path else member)
    if kind == "list":
        for number, inner in enumerate(value):
            _check_types(described["member"]["shape"], inner, f"{path}[{number}]")


def _is_storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _violations(name: str, value: Any, path: str) -> Iterator[str]:
    described = shape(name)
    kind = described["type"]
    if kind == "structure":
        for member in described.get("required", ()):
            if value.get(member) is None:
                yield f"Value null at '{_at(path, member)}' failed to satisfy constraint: Member must not be null"
        for member, inner in value.items():
            if inner is not None:
                yield from _violations(described["members"][member]["shape"], inner, _at(path, member))
    elif kind == "list":
        for number, inner in enumerate(value, 1):
            yield from _violations(described["member"]["shape"], inner, f"{path}.{number}.member")
    else:
        for constraint in _broken(described, value):
            yield f"Value '{str(value)[:_LONGEST_SHOWN]}' at '{path}' failed to satisfy constraint: Member must {constraint}"


def _broken(described: dict[str, Any], value: Any) -> Iterator[str]:
    if "enum" in described and value not in described["enum"]:
        yield f"satisfy enum value set: [{', '.join(described['enum'])}]"
    if "pattern" in described and not re.fullmatch(described["pattern"].strip("^$"), value):
        yield f"satisfy regular expression pattern: {described['pattern']}"
    noun, size = ("length", len(value)) if isinstance(value, str) else ("value", value)
    if "min" in described and size < described["min"]:
        yield f"have {noun} greater than or equal to {described['min']}"
    if "max" in described and size > described["max"]:
        yield f"have {noun} less than or equal to {described['max']}"


def _at(path: str, member: str) -> str:
    spelled = member[0].lower() + member[1:]
    return f"{path}.{spelled}" if path else spelled
