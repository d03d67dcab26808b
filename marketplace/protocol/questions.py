"""A HIT's question: an ExternalQuestion (an external page) or an HTMLQuestion (a page in the request).

Schemas: ExternalQuestion 2006-07-14, HTMLQuestion 2011-11-11.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlencode, urlsplit
from xml.etree.ElementTree import Element

from marketplace.protocol import xml
from marketplace.protocol.errors import RequestError

EXTERNAL = "ExternalQuestion"
HTML = "HTMLQuestion"
_SCHEMAS = {
    EXTERNAL: "2006-07-14/ExternalQuestion.xsd",
    HTML: "2011-11-11/HTMLQuestion.xsd",
}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
MAX_FRAME_HEIGHT = 100_000
# Pages written for MTurk name these; here they mean the marketplace itself.
_SUBMIT_URL = re.compile(r"https://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit")
_HELPER_SCRIPT = re.compile(
    r"https?://(?:s3\.amazonaws\.com/mturk-public|mturk-public\.s3\.amazonaws\.com)/externalHIT_v1\.js"
)


@dataclass(frozen=True)
class Question:
    """A question that can be shown. ``content`` is the URL or the HTML; a height of 0 fills the window."""

    kind: str
    content: str
    frame_height: int


def parse_question(text: str, *, own_hosts: frozenset[str] = frozenset()) -> Question:
    """Return the question in a request.

    Parameters
    ----------
    text
        The XML.
    own_hosts
        The marketplace's own hosts. A frame must not come from these: the sandbox relies on it.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.XMLParseError or InvalidParameterValue.
    """
    root = xml.read(text, what="Question")
    schema, kind = xml.kind_of(root)
    if kind == "QuestionForm":
        raise RequestError(
            "InvalidParameterValue",
            "A QuestionForm can be the test of a qualification here, but not the question of a HIT: "
            "use an HTMLQuestion or an ExternalQuestion.",
        )
    if _SCHEMAS.get(kind) != schema:
        known = " or ".join(f"{name} ({xml.NAMESPACE}{path})" for name, path in _SCHEMAS.items())
        raise RequestError("XMLParseError", f"Question must be {known}, not {kind} ({schema}).")
    names = ["ExternalURL", "FrameHeight"] if kind == EXTERNAL else ["HTMLContent", "FrameHeight"]
    if [xml.local(inner) for inner in root] != names:
        raise RequestError("XMLParseError", f"{kind} must hold {names[0]} and then FrameHeight, and nothing else.")
    content = _external_url(root[0], own_hosts) if kind == EXTERNAL else _html(root[0])
    return Question(kind, content, _height(root[1]))


def frame_url(url: str, parameters: dict[str, str]) -> str:
    """Return an external URL with the marketplace's parameters appended to its own; a fragment stays at the end."""
    base, hash_, fragment = url.partition("#")
    joiner = ("" if base.endswith(("?", "&")) else "&") if "?" in base else "?"
    return f"{base}{joiner}{urlencode(parameters)}{hash_}{fragment}"


def html_page(content: str, *, submit_url: str, helper_url: str) -> str:
    """Return an HTMLQuestion's page with the addresses of MTurk replaced by the marketplace's own."""
    return _HELPER_SCRIPT.sub(lambda _: helper_url, _SUBMIT_URL.sub(lambda _: submit_url, content))


def is_loopback(host: str | None) -> bool:
    """Return whether a host name means this machine."""
    if not host:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _external_url(element: Element, own_hosts: frozenset[str]) -> str:
    url = xml.text_of(element)
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise RequestError("InvalidParameterValue", f"ExternalURL is not a URL: {error}.") from error
    if not host or re.search(r"[\s\x00-\x20\"'<>\\;,]", url) or parts.username is not None:
        raise RequestError("InvalidParameterValue", f"ExternalURL must be a complete https URL, not {url!r}.")
    if not _is_safe(parts):
        raise RequestError(
            "InvalidParameterValue", f"ExternalURL must be https (http only on this machine itself), not {url!r}."
        )
    if host.lower() in own_hosts:
        raise RequestError(
            "InvalidParameterValue", f"ExternalURL may not be on a host of the marketplace itself ({host})."
        )
    return url


def _is_safe(parts: SplitResult) -> bool:
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def _html(element: Element) -> str:
    content = "".join(element.itertext())
    if list(element) or not content.strip():
        raise RequestError("XHTMLParseError", "HTMLContent must hold the page as CDATA or escaped text.")
    return content


def _height(element: Element) -> int:
    height = xml.integer_of(element, what="FrameHeight")
    if not 0 <= height <= MAX_FRAME_HEIGHT:
        raise RequestError("InvalidParameterValue", f"FrameHeight must be between 0 and {MAX_FRAME_HEIGHT}.")
    return height
