"""Members of the campaign: they log in, their work counts at once, and they leave when they like."""

from collections.abc import Mapping
from typing import ClassVar

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Outcome, Terms


class Internal:
    """People with an account here."""

    key: ClassVar[str] = "internal"
    door: ClassVar[str] = ""
    confirms: ClassVar[bool] = False
    terms_class: ClassVar[type[Terms]] = Terms

    def arrive(self, query: Mapping[str, str], terms: Terms) -> Arrival | None:
        """Refuse: members come by their account, not by an address."""
        raise ArrivalRefused("members of a campaign log in")

    def farewell(self, arrival: Arrival, terms: Terms, outcome: Outcome, code: str) -> Farewell:
        """Return nothing: there is nowhere to go."""
        return Farewell()
