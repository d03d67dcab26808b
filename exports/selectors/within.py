"""Whether an item is among the rows of a release, asked so that large releases are answered by an index."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet


def within(rows: QuerySet[Any], name: str = "item", *, of: str = "") -> Exists:
    """Return the condition that one of the rows has the ``name`` of the outer row (there called ``of``).

    Not as a list of keys: PostgreSQL walks through a list that is too long for its working memory again for each row.
    """
    return Exists(rows.filter(**{name: OuterRef(of or name)}))
