"""Paths of a document's files in storage, by content."""


def page_path(sha256: str) -> str:
    """Return the path of the canonical bytes."""
    return f"pages/{sha256[:2]}/{sha256}.html.gz"


def tokens_path(tokens_sha256: str) -> str:
    """Return the path of the tokens and candidates."""
    return f"tokens/{tokens_sha256[:2]}/{tokens_sha256}.json.gz"


def display_path(tokens_sha256: str) -> str:
    """Return the path of the page for reading."""
    return f"display/{tokens_sha256[:2]}/{tokens_sha256}.html.gz"
