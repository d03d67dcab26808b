"""The error responses of the requester API.

ProtocolError
├── SerializationError      the body is not the JSON of this operation
├── UnknownOperationError   X-Amz-Target names no operation
├── SignatureError          the caller is unknown, or the signature is wrong
├── ValidationError         a value breaks the service model (type, enum, pattern, length, range)
├── Throttled               too many requests
├── ServiceFault            an error on our side
└── RequestError            a rule of the service, with its TurkErrorCode
"""

from collections.abc import Iterable

_PREFIX = "AWS.MechanicalTurk."


class ProtocolError(Exception):
    """An error response: ``kind`` is the ``__type`` in the protocol."""

    kind = "ServiceFault"
    status = 400

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def body(self) -> dict[str, str]:
        """Return the JSON body of the answer."""
        return {"__type": self.kind, "Message": self.message}


class SerializationError(ProtocolError):
    """The body cannot be read as this operation's input."""

    kind = "SerializationException"


class UnknownOperationError(ProtocolError):
    """There is no such operation."""

    kind = "UnknownOperationException"


class SignatureError(ProtocolError):
    """The caller could not be authenticated; ``kind`` is AWS's name for the reason."""

    status = 403

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ValidationError(ProtocolError):
    """One or more values break the service model."""

    kind = "ValidationException"

    def __init__(self, violations: Iterable[str]) -> None:
        found = list(violations)
        noun = "error" if len(found) == 1 else "errors"
        super().__init__(f"{len(found)} validation {noun} detected: {'; '.join(found)}")


class ParameterError(ProtocolError):
    """A value is well-formed but names something that the service doesn't know."""

    kind = "ParameterValidationError"


class Throttled(ProtocolError):
    """Too many requests in a short time."""

    kind = "ThrottlingException"

    def __init__(self) -> None:
        super().__init__("Rate exceeded")


class ServiceFault(ProtocolError):
    """Something went wrong on our side; asking again may help."""

    kind = "ServiceFault"
    status = 500

    def body(self) -> dict[str, str]:
        """Return the JSON body, with the code that the service model assigns to a fault."""
        return {**super().body(), "TurkErrorCode": "AWS.ServerUnavailable"}


class RequestError(ProtocolError):
    """A rule of the service rejected the request.

    Parameters
    ----------
    code
        The TurkErrorCode; ``AWS.MechanicalTurk.`` is prepended to a code without a dot.
    message
        A description of the problem for people.
    """

    kind = "RequestError"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code if "." in code else _PREFIX + code

    def body(self) -> dict[str, str]:
        """Return the JSON body of the answer."""
        return {**super().body(), "TurkErrorCode": self.code}
