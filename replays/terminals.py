"""Terminals for commands and jobs that a program runs: one that shows nothing, one that keeps what is written."""

from collections.abc import Callable

Say = Callable[[str], None]  # how a long run says what it does


class Quiet:
    """A terminal that shows nothing."""

    def write(self, text: str) -> None:
        """Drop it."""

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Say no."""
        return False


class Kept(Quiet):
    """A terminal that keeps what is written."""

    text = ""

    def write(self, text: str) -> None:
        """Keep it."""
        self.text += text
