"""The errors of the client.

- `QuorateError`: everything below
  - `ConnectionFailed`: no answer, after all attempts
  - `JobFailed`: a job ended with an error; `JobFailed.job` has the rows that were wrong
  - `Problem`: the server refused the request, so it had no effect

    - `Unauthorized` (401), `Forbidden` (403), `NotFound` (404), `Conflict` (409), `ChangedMeanwhile` (412, 428),
      `Invalid` (422), `TooManyRequests` (429), `ServerError` (5xx)
"""

from collections.abc import Mapping, Sequence
from typing import Any


class QuorateError(Exception):
    """Any error of this client."""


class ConnectionFailed(QuorateError):
    """The server didn't answer."""


class JobFailed(QuorateError):
    """A job failed.

    Attributes
    ----------
    job
        The job as it ended; ``job.errors`` lists the rows that were wrong.
    """

    def __init__(self, job: Any) -> None:
        super().__init__(job.error)
        self.job = job


class Problem(QuorateError):
    """The server refused a request (RFC 9457).

    Attributes
    ----------
    status, type, title, detail
        As the server sent them; ``type`` stays the same if the sentence in ``detail`` changes.
    errors
        The invalid fields, each with ``field``, ``detail`` and, for files, ``line``.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.type: str = body.get("type", "about:blank")
        self.title: str = body.get("title", "")
        self.detail: str = body.get("detail", "") or self.title or f"status {status}"
        self.errors: Sequence[Mapping[str, Any]] = body.get("errors", [])
        super().__init__(f"{self.detail} ({status})")


class Unauthorized(Problem):
    """The token is missing, unknown, expired or revoked (401)."""


class Forbidden(Problem):
    """The token lacks a scope, or its owner may not do this (403)."""


class NotFound(Problem):
    """There is no such thing, or the token's owner has no access to it (404)."""


class Conflict(Problem):
    """The current state doesn't allow the request (409)."""


class ChangedMeanwhile(Problem):
    """Someone else changed it first (412), or the version that was changed isn't stated (428)."""


class Invalid(Problem):
    """A value isn't valid (422)."""


class TooManyRequests(Problem):
    """The token used up its requests, also after waiting (429)."""


class ServerError(Problem):
    """The server failed, or is away (5xx)."""


_BY_STATUS: dict[int, type[Problem]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: ChangedMeanwhile,
    422: Invalid,
    428: ChangedMeanwhile,
    429: TooManyRequests,
}


def problem_of(status: int, body: Any) -> Problem:
    """Return the error for an answer."""
    kind = ServerError if status >= 500 else _BY_STATUS.get(status, Problem)
    return kind(status, body if isinstance(body, dict) else {})
