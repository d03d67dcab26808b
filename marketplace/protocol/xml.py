"""Parse requesters' XML: document types, entities and external resources are not allowed."""

from typing import Any
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from marketplace.protocol.errors import RequestError

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
MAX_BYTES = 65_535
MOST = 1_000_000


def read(text: str, *, what: str) -> Element:
    """Return the root element of an XML text.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.XMLParseError, with the line and column of the problem.
    """
    size = len(text.encode())
    if size > MAX_BYTES:
        raise RequestError("InvalidParameterValue", f"{what} has {size} bytes; the most is {MAX_BYTES}.")
    if not text.strip():
        raise RequestError("InvalidParameterValue", f"Your request parameter {what} has a minimum length of 1.")
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except ParseError as error:
        raise RequestError("XMLParseError", f"There was an error parsing the XML of {what}: {error}") from error
    except (DefusedXmlException, ValueError) as error:
        raise RequestError(
            "XMLParseError", f"{what} may not hold a document type, an entity or an encoding of its own ({error})."
        ) from error
    return root


def read_own(text: str) -> Element:
    """Return the root element of a document that the marketplace itself wrote."""
    root: Element = fromstring(text, forbid_dtd=True)
    return root


def kind_of(root: Element) -> tuple[str, str]:
    """Return the namespace without the common prefix, and the local name: (``2006-07-14/…xsd``, ``ExternalQuestion``)."""
    namespace, _, name = root.tag.rpartition("}")
    return namespace.removeprefix("{").removeprefix(NAMESPACE), name


def child(element: Element, name: str) -> Element | None:
    """Return the child with this local name, in the namespace of its parent."""
    namespace = element.tag.rpartition("}")[0]
    return element.find(f"{namespace}}}{name}" if namespace else name)


def children(element: Element, name: str | None = None) -> list[Element]:
    """Return the children with this local name, or all of them."""
    return [inner for inner in element if name is None or local(inner) == name]


def local(element: Element) -> str:
    """Return an element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element | None) -> str:
    """Return the stripped text of an element; empty if the element is missing."""
    return "" if element is None else "".join(element.itertext()).strip()


def integer_of(element: Element | None, *, what: str, default: int | None = None) -> int:
    """Return the integer in an element.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.XMLParseError if it isn't an integer.
    """
    value: Any = text_of(element) or default
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise RequestError("XMLParseError", f"{what} must be a whole number, not {value!r}.") from None
    if abs(number) > MOST:
        raise RequestError("XMLParseError", f"{what} must be between {-MOST} and {MOST}.")
    return number
