"""Marks on texts for translation, for modules that know no Django: ``make messages`` finds them, a border translates."""

from typing import NamedTuple


class Plural(NamedTuple):
    """A text with a form for one and a form for more; ``number`` names the entry of the data that decides."""

    one: str
    more: str
    number: str


def gettext_noop(text: str) -> str:
    """Mark a text; return it."""
    return text


def ngettext(one: str, more: str, number: str) -> Plural:
    """Mark a text with two forms; return both."""
    return Plural(one, more, number)
