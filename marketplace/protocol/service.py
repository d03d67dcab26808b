"""The service model: operations and the shapes of their input and output.

Read once from the copy in ``model/`` (botocore's ``mturk/2017-01-17/service-2.json``).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

MODEL = Path(__file__).parent / "model"
_SERVICE = MODEL / "mturk" / "2017-01-17" / "service-2.json"


@cache
def model() -> dict[str, Any]:
    """Return the service model as loaded from the file."""
    loaded: dict[str, Any] = json.loads(_SERVICE.read_bytes())
    return loaded


def operation_names() -> list[str]:
    """Return the names of all operations, sorted."""
    return sorted(model()["operations"])


def target_prefix() -> str:
    """Return the part of ``X-Amz-Target`` before the dot."""
    return str(model()["metadata"]["targetPrefix"])


def signing_name() -> str:
    """Return the service's name in the credential scope of a signature."""
    return str(model()["metadata"]["endpointPrefix"])


def input_shape(operation: str) -> str:
    """Return the name of the shape of an operation's input."""
    return str(model()["operations"][operation]["input"]["shape"])


def shape(name: str) -> dict[str, Any]:
    """Return one shape."""
    found: dict[str, Any] = model()["shapes"][name]
    return found
