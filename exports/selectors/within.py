"""A condition for membership in a release that large releases can answer from an index."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet


def within(rows: QuerySet[Any], name: str = "item", *, of: str = "") -> Exists:
    """Return the condition that a row exists whose ``name`` equals the outer row's ``of`` (by default ``name``).

    A list of keys would be slow: PostgreSQL scans a list that exceeds its working memory again for each row.
    """
    return Exists(rows.filter(**{name: OuterRef(of or name)}))
