"""Output streams for commands and jobs run by a program: one discards the output, the other keeps it."""

from collections.abc import Callable

Say = Callable[[str], None]  # how a long run says what it does


class Quiet:
    """An output stream that discards everything."""

    def write(self, text: str) -> None:
        """Discard the text."""

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Return False."""
        return False


class Kept(Quiet):
    """An output stream that keeps everything."""

    text = ""

    def write(self, text: str) -> None:
        """Keep the text."""
        self.text += text
