"""Members of the campaign: they log in, their work counts at once, and they leave when they like."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Kind, Outcome


class Internal(Kind):
    """People with an account here."""

    key: ClassVar[str] = "internal"
    title: ClassVar[Any] = _("Members")

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Refuse: members come by their account, not by an address."""
        raise ArrivalRefused("arrival_members")

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return nothing: there is nowhere to go."""
        return Farewell()
