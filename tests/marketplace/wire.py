"""Check raw answers against the service model that botocore ships: what its own parser lets pass is found here."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp(), datetime(2100, 1, 1, tzinfo=UTC).timestamp()


@dataclass
class Coverage:
    """Which members of which outputs and which TurkErrorCodes have been seen."""

    members: set[tuple[str, str]] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)


def walk_output(operation, body, coverage):
    """Walk one successful answer."""
    coverage.operations.add(operation.name)
    shape = operation.output_shape
    assert isinstance(body, dict)
    _walk(shape, body, operation.name, coverage)


def walk_error(body, coverage):
    """Walk the body of an error: a type, a message, and for a RequestError its code."""
    assert set(body) <= {"__type", "Message", "TurkErrorCode"}, body
    assert body["__type"]
    assert body["Message"]
    if body["__type"] == "RequestError":
        assert re.fullmatch(r"AWS\.(MechanicalTurk\.)?[A-Za-z]+", body["TurkErrorCode"]), body
        assert re.search(r" \(\d{13} s\)$", body["Message"]), body
        coverage.codes.add(body["TurkErrorCode"])


def _walk(shape, value, path, coverage):
    assert value is not None, f"{path} is null"
    kind = shape.type_name
    if kind == "structure":
        assert isinstance(value, dict), path
        unknown = set(value) - set(shape.members)
        assert not unknown, f"{path} has unknown members {unknown}"
        missing = set(shape.required_members) - set(value)
        assert not missing, f"{path} lacks {missing}"
        for name, inner in value.items():
            coverage.members.add((shape.name, name))
            _walk(shape.members[name], inner, f"{path}.{name}", coverage)
    elif kind == "list":
        assert isinstance(value, list), path
        for inner in value:
            _walk(shape.member, inner, f"{path}[]", coverage)
    elif kind == "timestamp":
        assert isinstance(value, int | float) and not isinstance(value, bool), f"{path} is no epoch time: {value!r}"
        assert EARLIEST < value < LATEST, path
    elif kind in ("integer", "long"):
        assert isinstance(value, int) and not isinstance(value, bool), f"{path}: {value!r}"
        _limits(shape, value, path)
    elif kind == "boolean":
        assert isinstance(value, bool), path
    else:
        assert kind == "string" and isinstance(value, str), f"{path}: {value!r}"
        _limits(shape, len(value), path)
        assert not shape.enum or value in shape.enum, f"{path}: {value!r}"
        pattern = shape.metadata.get("pattern")
        assert not pattern or re.fullmatch(pattern, value), f"{path}: {value!r} does not match {pattern}"


def _limits(shape, size, path):
    assert size >= shape.metadata.get("min", size), path
    assert size <= shape.metadata.get("max", size), path
