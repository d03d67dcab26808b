"""Pages shared between splits: a system that saw a page in training knows it in the test."""

from collections import defaultdict
from itertools import combinations
from typing import Any

from exports.models import Release


def page_overlap(release: Release) -> list[dict[str, Any]]:
    """Return, for each pair of a release's splits, the number of shared pages; empty if items have no pages."""
    rows = release.members.filter(rank=0, item__tokenization__isnull=False)
    pages: dict[str, set[str]] = defaultdict(set)
    for split, sha256 in rows.values_list("item__split__name", "item__tokenization__document__sha256").iterator(5000):
        pages[split].add(sha256)
    return [
        {"splits": [first, second], "pages": len(pages[first] & pages[second])}
        for first, second in combinations([name for name in release.splits if name in pages], 2)
    ]
