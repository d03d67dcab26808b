"""The Python client of Quorate: `Quorate`, or `AsyncQuorate` for programs with an event loop."""

from quorate_client._async.client import AsyncQuorate
from quorate_client._sync.client import Quorate
from quorate_client.errors import (
    ChangedMeanwhile,
    Conflict,
    ConnectionFailed,
    Forbidden,
    Invalid,
    JobFailed,
    NotFound,
    Problem,
    QuorateError,
    ServerError,
    TooManyRequests,
    Unauthorized,
)

__all__ = [
    "AsyncQuorate",
    "ChangedMeanwhile",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "Invalid",
    "JobFailed",
    "NotFound",
    "Problem",
    "Quorate",
    "QuorateError",
    "ServerError",
    "TooManyRequests",
    "Unauthorized",
]
