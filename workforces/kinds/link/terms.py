"""The terms of a panel."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from workforces.kinds.base import Terms, TermsError


@dataclass(frozen=True, slots=True)
class LinkTerms(Terms):
    """The terms of a panel.

    ``return_url`` gets the code appended as ``cc``; without a URL, people copy the code.
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
            raise TermsError("terms_return_url")
        if urlsplit(self.return_url).fragment or "cc=" in urlsplit(self.return_url).query:
            raise TermsError("terms_return_url_parts")
        if len({self.code_completed, self.code_screened_out, self.code_nothing_left}) < 3:
            raise TermsError("terms_codes")


def placeholders(terms: LinkTerms) -> str:
    """Return the query of the panel's link, with the placeholders that Prolific fills in."""
    return f"{terms.person_parameter}={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&{terms.visit_parameter}={{{{%SESSION_ID%}}}}"
