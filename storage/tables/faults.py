"""What can be wrong with one row."""


class RowError(ValueError):
    """A row can't be used; the message says why, ``column`` where."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column
