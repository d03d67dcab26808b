"""Marks for texts to be translated, for modules that don't import Django.

``make messages`` finds the marked texts, and the interfaces translate them.
"""

from typing import NamedTuple


class Plural(NamedTuple):
    """A text with a singular and a plural form; ``number`` names the entry of the data that decides."""

    one: str
    more: str
    number: str


def gettext_noop(text: str) -> str:
    """Mark a text and return it."""
    return text


def ngettext(one: str, more: str, number: str) -> Plural:
    """Mark a text with two forms and return both."""
    return Plural(one, more, number)
