"""Reading numbers from URLs and forms, which can hold anything."""

MOST_DIGITS = 18  # what surely fits a 64-bit column


def whole_number(text: str | None, default: int = 0) -> int:
    """Return a whole number that fits a database, or the default for anything else."""
    if text and text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    return default
