"""Errors in a record of raw material."""


class RecordFault(ValueError):
    """A record isn't in the expected form; the message gives the reason, ``column`` the column."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column
