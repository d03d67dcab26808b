"""Emails: the spelling of recipients' addresses, and the platform's own address in links."""

import re
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

_DEVIATING = re.compile("[ßς\u200c\u200d]")  # newer rules (IDNA 2008) make another domain of these
_WORD = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_MAILBOX = re.compile(rf"{_WORD}(\.{_WORD})*")


def plain_address(text: str) -> str:
    """Return an email address in the one spelling used for sending: its domain as in DNS, in lower case.

    Otherwise a mailbox could have many spellings: sending removes quotes and escapes, decodes words, and maps
    characters of the domain.

    Raises
    ------
    ValidationError
        The address is invalid, or its mailbox is quoted, encoded or not ASCII, which not every mail server accepts.
    """
    validate_email(text)
    mailbox, _at, domain = text.rpartition("@")
    try:
        name = domain.encode("idna").decode().lower()
    except UnicodeError:
        name = ""
    if not name or _DEVIATING.search(domain.lower()) or "=?" in mailbox or not _MAILBOX.fullmatch(mailbox):
        raise ValidationError(_("Enter a valid email address."))
    plain = f"{mailbox}@{name}"
    validate_email(plain)
    return plain


def with_our_address(context: dict[str, Any], ours: str) -> dict[str, Any]:
    """Return the context of an email: our name, and every URL in it on ``ours`` (scheme, host and port)."""
    scheme, host = urlsplit(ours)[:2]
    changed = {
        name: urlunsplit((scheme, host, *urlsplit(value)[2:]))
        for name, value in context.items()
        if name.endswith("_url") and isinstance(value, str)
    }
    return {**context, **changed, "current_site": SimpleNamespace(name=host, domain=host)}
