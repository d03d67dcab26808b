"""Errors in a single row."""


class RowError(ValueError):
    """A row can't be used; the message gives the reason, ``column`` the column."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column
