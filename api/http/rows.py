"""Finding the row that an address names."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from api.http.problems import not_found

M = TypeVar("M", bound=Model)
MOST_NUMBER = 2**31  # of positive integer columns; keys are larger
MOST_KEY = 2**63


def row_of(rows: QuerySet[M], **by: Any) -> M:
    """Return the row with these values.

    Raises
    ------
    Refused
        There is none, or a number is larger than its column (404).
    """
    for name, value in by.items():
        most = MOST_KEY if name == "pk" else MOST_NUMBER
        if isinstance(value, int) and value >= most:
            raise not_found()
    found = rows.filter(**by).first()
    if found is None:
        raise not_found()
    return found
