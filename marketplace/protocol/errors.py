"""What a request can be answered with when it is not carried out.

ProtocolError
├── SerializationError      the body is not the JSON of this operation
├── UnknownOperationError   X-Amz-Target names nothing
├── SignatureError          who asks is not known, or the signature is wrong
├── ValidationError         a value breaks the service model (type, enum, pattern, length, range)
├── Throttled               too many requests
├── ServiceFault            an error on our side
└── RequestError            a rule of the service, with its TurkErrorCode
"""

from collections.abc import Iterable

_PREFIX = "AWS.MechanicalTurk."


class ProtocolError(Exception):
    """An answer other than success: ``kind`` is the ``__type`` on the wire."""

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
    """The caller could not be authenticated; ``kind`` says why in the words of AWS."""

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
    """A value is well-formed and names nothing the service knows."""

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
        """Return the JSON body, with the code that the service model gives a fault."""
        return {**super().body(), "TurkErrorCode": "AWS.ServerUnavailable"}


class RequestError(ProtocolError):
    """A rule of the service said no.

    Parameters
    ----------
    code
        The TurkErrorCode; without a dot, ``AWS.MechanicalTurk.`` is put before it.
    message
        What happened, for a person.
    """

    kind = "RequestError"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code if "." in code else _PREFIX + code

    def body(self) -> dict[str, str]:
        """Return the JSON body of the answer."""
        return {**super().body(), "TurkErrorCode": self.code}
