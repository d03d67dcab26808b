"""Pages that items of several splits are asked of: systems that saw one in training know it in the test."""

from collections import defaultdict
from itertools import combinations
from typing import Any

from exports.models import Release


def page_overlap(release: Release) -> list[dict[str, Any]]:
    """Return for each two splits of a release how many pages are in both; nothing where items have no pages."""
    rows = release.members.filter(rank=0, item__tokenization__isnull=False)
    pages: dict[str, set[str]] = defaultdict(set)
    for split, sha256 in rows.values_list("item__split__name", "item__tokenization__document__sha256").iterator(5000):
        pages[split].add(sha256)
    return [
        {"splits": [first, second], "pages": len(pages[first] & pages[second])}
        for first, second in combinations([name for name in release.splits if name in pages], 2)
    ]
