"""Members of the campaign: they log in, their work counts immediately, and they can leave at any time."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Kind, Outcome


class Internal(Kind):
    """People with an account here."""

    key: ClassVar[str] = "internal"
    title: ClassVar[Any] = _("Members")

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Refuse the arrival: members log in with their account instead of using an address."""
        raise ArrivalRefused("arrival_members")

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return an empty farewell: members don't leave for another site."""
        return Farewell()
