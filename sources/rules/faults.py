"""What is wrong with a record of raw material."""


class RecordFault(ValueError):
    """A record breaks its form; the message says why, ``column`` where."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column
