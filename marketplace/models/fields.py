"""Money as whole cents in the database and Decimal dollars in Python, never as floats."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models

CENTS = Decimal(100)

if TYPE_CHECKING:
    _Whole = models.BigIntegerField[Decimal | int, Decimal]
else:
    _Whole = models.BigIntegerField


class MoneyField(_Whole):
    """An amount in dollars with two decimals. Amounts with more decimals are rejected, never rounded."""

    def from_db_value(self, value: int | None, *_args: Any) -> Decimal | None:
        """Return the amount in dollars."""
        return None if value is None else (Decimal(value) / CENTS).quantize(Decimal("0.01"))

    def to_python(self, value: Any) -> Any:
        """Return a Decimal."""
        return None if value is None else Decimal(value)

    def get_prep_value(self, value: Any) -> Any:
        """Return whole cents."""
        if value is None or not isinstance(value, Decimal | int | str):
            return value  # an expression, which the database computes
        cents = Decimal(value) * CENTS
        if cents != cents.to_integral_value():
            raise ValueError(f"{value} is not a whole number of cents")
        return int(cents)
