"""A link for any panel: people come with an id of the panel and leave with a completion code.

Prolific's parameters are understood by their names (PROLIFIC_PID, STUDY_ID, SESSION_ID); another panel says
in the terms which parameter holds the person and which the visit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Outcome, Terms, Unsigned, signature_verify

_NAME = re.compile(r"[\w.@+-]{1,120}")


@dataclass(frozen=True, slots=True)
class LinkTerms(Terms):
    """What a panel agreed to.

    ``return_url`` gets the code appended as ``cc``; without one the code is shown to be copied.
    ``confirm_seconds`` is how long finished work of unsigned visits waits for the panel's list.
    """

    person_parameter: str = "PROLIFIC_PID"
    visit_parameter: str = "SESSION_ID"
    study_parameter: str = "STUDY_ID"
    code_completed: str = ""
    code_screened_out: str = ""
    code_nothing_left: str = ""
    return_url: str = ""
    items_per_ticket: int = 10
    confirm_seconds: int = 14 * 86_400

    def __post_init__(self) -> None:
        Terms.__post_init__(self)
        if self.return_url and urlsplit(self.return_url).scheme not in ("https", "http"):
            raise ValueError("return_url must be an http or https address")
        if urlsplit(self.return_url).fragment or "cc=" in urlsplit(self.return_url).query:
            raise ValueError("return_url cannot have a part after # or a parameter cc: the code is appended as cc")
        if len({self.code_completed, self.code_screened_out, self.code_nothing_left}) < 3:
            raise ValueError("each outcome needs a completion code of its own")


def placeholders(terms: LinkTerms) -> str:
    """Return the query of the address that a panel is given, with the placeholders that Prolific fills in."""
    return f"{terms.person_parameter}={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&{terms.visit_parameter}={{{{%SESSION_ID%}}}}"


class Link:
    """People sent by a panel, which can sign their addresses with the secret of the workforce."""

    key: ClassVar[str] = "link"
    door: ClassVar[str] = "join"
    confirms: ClassVar[bool] = False
    terms_class: ClassVar[type[Terms]] = LinkTerms

    def __init__(self, secret: str = "", now: float = 0.0) -> None:
        self.secret = secret
        self.now = now

    def arrive(self, query: Mapping[str, str], terms: Terms) -> Arrival | None:
        """Return who came; an address without a person is a look at the instructions."""
        assert isinstance(terms, LinkTerms)
        worker = query.get(terms.person_parameter, "").strip()
        if not worker or worker.startswith("{{"):  # a panel's placeholder, when a person tries the link out
            return None
        visit = query.get(terms.visit_parameter, "").strip() or query.get(terms.study_parameter, "").strip() or "-"
        if not _NAME.fullmatch(worker):
            raise ArrivalRefused(f"{terms.person_parameter} is not an id of a panel")
        if visit != "-" and not _NAME.fullmatch(visit):
            raise ArrivalRefused(f"{terms.visit_parameter} is not an id of a visit")
        is_signed = bool(self.secret) and signature_verify(self.secret, query, worker, visit, now=self.now)
        if not is_signed and terms.unsigned == Unsigned.REFUSE:
            raise ArrivalRefused("the panel's signature is missing from this address")
        return Arrival(worker=worker, remote_id=visit, is_signed=is_signed)

    def farewell(self, arrival: Arrival, terms: Terms, outcome: Outcome, code: str) -> Farewell:
        """Return the panel's address with the code of this outcome."""
        assert isinstance(terms, LinkTerms)
        its_code = {
            Outcome.COMPLETED: terms.code_completed,
            Outcome.SCREENED_OUT: terms.code_screened_out,
            Outcome.NOTHING_LEFT: terms.code_nothing_left,
        }[outcome]
        if not terms.return_url:
            return Farewell(code=its_code)
        sign = "&" if "?" in terms.return_url else "?"
        return Farewell(url=f"{terms.return_url}{sign}{urlencode({'cc': its_code})}", code=its_code)
