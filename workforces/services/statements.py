"""The address of a person's statement: their work, its pay, appeals, and leaving."""

from uuid import UUID

from django.core import signing

STATEMENT = "quorate.statement"


def statement_path(*, workforce_id: int, surrogate_id: UUID) -> str:
    """Return the address where a person sees their work and its pay, and can appeal or withdraw consent."""
    token = signing.dumps([workforce_id, str(surrogate_id)], salt=STATEMENT)
    return f"/statement/{token}/"
