"""The errors of pages.

DocumentError
├── NotText        the bytes are not UTF-8
├── EmptyPage      no word can be seen on the page
└── LimitExceeded  larger, deeper or slower than allowed
"""


class DocumentError(ValueError):
    """A page that cannot be used, with a sentence that says why."""


class NotText(DocumentError):
    """The page is not valid UTF-8."""


class EmptyPage(DocumentError):
    """The page shows no word."""


class LimitExceeded(DocumentError):
    """The page is larger, deeper, or takes longer than the limits allow."""


class Unbalanced(DocumentError):
    """The page omits end tags, and their places aren't clear."""
