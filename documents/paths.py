"""Where a document's files lie in storage, by content."""


def page_path(sha256: str) -> str:
    """Return where the canonical bytes are."""
    return f"pages/{sha256[:2]}/{sha256}.html.gz"


def tokens_path(tokens_sha256: str) -> str:
    """Return where the tokens and candidates are."""
    return f"tokens/{tokens_sha256[:2]}/{tokens_sha256}.json.gz"


def display_path(tokens_sha256: str) -> str:
    """Return where the page for reading is."""
    return f"display/{tokens_sha256[:2]}/{tokens_sha256}.html.gz"
