"""Canonical bytes: the input page unchanged, except for characters that can't be kept in HTML."""

import hashlib

from documents.html.errors import NotText

_BYTE_ORDER_MARK = "\ufeff"


def canonical_text(raw: bytes) -> str:
    r"""Return the page as text whose UTF-8 encoding is the canonical form.

    Newlines become ``\\n``, NUL becomes U+FFFD (as the HTML standard reads it) and a leading byte
    order mark goes. Everything else stays, so that offsets published with a page stay true.

    Raises
    ------
    NotText
        The bytes are not UTF-8; the message names the byte.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"not valid UTF-8 at byte {error.start}: save the page as UTF-8 and import it again") from error
    text = text.removeprefix(_BYTE_ORDER_MARK)
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")


def sha256_of(text: str) -> str:
    """Return the content address of canonical text (hexadecimal)."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
