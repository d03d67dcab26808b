"""Entity tags, so that of two writers the second learns that the first was there."""

import hashlib
import json
from typing import Any

from django.http import HttpRequest

from api.http.problems import Refused


def etag_of(*parts: Any) -> str:
    """Return the entity tag of a state."""
    return '"' + hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:20] + '"'


def match_required(request: HttpRequest, current: str) -> None:
    """Refuse a change that is based on another state than the current one.

    Call it where the state can't change until the transaction ends.

    Raises
    ------
    Refused
        The header ``If-Match`` is missing (428), or names another state (412).
    """
    sent = request.headers.get("If-Match", "")
    if not sent:
        raise Refused(428, "if_match_missing", "Send the ETag of the version that you changed as If-Match.")
    if not matches(sent, current):
        said = "Someone changed this in the meantime. Read the current version and apply your change to it."
        raise Refused(412, "changed_meanwhile", said, headers={"ETag": current})


def matches(header: str, current: str) -> bool:
    """Return whether a header names an entity tag. Compression makes tags weak, which says nothing about the state."""
    return current in [one.strip().removeprefix("W/") for one in header.split(",")]
