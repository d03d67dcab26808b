"""Recruitment: the sources of annotators, with their terms and what they cost."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.problems import Refused, invalid
from api.http.rows import row_of
from api.models import TokenScope
from quality.people.views.workforces import terms_estimated, terms_form
from workforces.kinds.registry import KINDS
from workforces.models import Workforce
from workforces.services.workforces import workforce_add

router = Router()


class WorkforceReply(Reply):
    """A source of annotators with its terms. Amounts are US cents."""

    id: int = Field(validation_alias="pk")
    kind: str
    terms: dict[str, Any]
    currency: str = "USD"
    is_active: bool
    spent_stop: bool = Field(description="Whether the spending cap stopped new postings.")
    problem: str
    study: dict[str, Any] | None = Field(description="For prolific: the study's status, places and cost there.")
    created_at: datetime

    @staticmethod
    def resolve_study(row: Workforce) -> Any:
        """Return how its study stands on Prolific."""
        return row.remote.get("study")

    @staticmethod
    def resolve_currency(_row: Workforce) -> str:
        """Return the currency of all amounts."""
        return "USD"


class WorkforceSent(Sent):
    """A workforce to add, or new terms of one: the fields of the Recruitment page, in cents and seconds.

    Terms that aren't sent are the usual ones.
    """

    kind: str = Field(description="For example mturk, prolific or link.")
    terms: dict[str, Any]


class EstimateReply(Reply):
    """The estimated cost of a campaign under these terms."""

    cents: int
    currency: Literal["USD"] = "USD"
    hourly_cents: int
    is_below_floor: bool
    is_above_cap: bool
    details: dict[str, Any]


@operation(router, "GET", "/campaigns/{campaign}/workforces", Page[WorkforceReply], action=Action.MANAGE)
def workforce_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the sources of annotators with their terms."""
    return page_of(request, request.campaign.workforces.all(), asked)


def _terms(request: ApiRequest, sent: WorkforceSent) -> Any:
    """Return a valid form with the terms of a workforce."""
    kind = KINDS.get(sent.kind)
    if kind is None or not kind.form:
        known = ", ".join(one.key for one in KINDS.values() if one.form)
        raise Refused(422, "workforce_kind", f"kind: unknown, or needs no terms. Known: {known}.")
    empty = terms_form(request.campaign, kind)
    fields = empty.fields
    if unknown := sorted(set(sent.terms) - set(fields)):
        said = f"This term is unknown. Known: {', '.join(fields)}."
        raise invalid([{"field": f"terms.{unknown[0]}", "detail": said}])
    # The form takes what people type, dollars and minutes; programs send what is stored, cents and seconds.
    usual = {name: empty.get_initial_for_field(field, name) for name, field in fields.items()}
    typed = {name: fields[name].prepare_value(value) for name, value in {**usual, **sent.terms}.items()}
    form = terms_form(request.campaign, kind, typed)
    checked(form)
    return form


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/workforces:estimate",
    EstimateReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def workforce_estimate(request: ApiRequest, campaign: str, sent: WorkforceSent) -> Any:
    """Estimate what the campaign costs under these terms. Nothing is posted."""
    found = terms_estimated(request.campaign, _terms(request, sent))
    names = ("hourly", "is_below_floor", "is_above_cap")
    hourly, is_below, is_above = (found[name] for name in names)
    return {
        "cents": found["made"].cents,
        "hourly_cents": hourly,
        "is_below_floor": is_below,
        "is_above_cap": is_above,
        "details": asdict(found["made"]),
    }


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/workforces",
    WorkforceReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=201,
)
def workforce_new(request: ApiRequest, campaign: str, sent: WorkforceSent) -> Workforce:
    """Open recruitment under these terms, or give a workforce new terms. This can spend money, up to the cap."""
    form = _terms(request, sent)
    return workforce_add(
        campaign=request.campaign,
        kind=sent.kind,
        terms=form.terms(),
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/workforces/{kind}/publish",
    WorkforceReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def workforce_publish(request: ApiRequest, campaign: str, kind: str) -> Workforce:
    """Publish what was prepared as a draft, for example a study on Prolific. From then on it costs money."""
    row = row_of(request.campaign.workforces.select_related("campaign"), kind=kind)
    KINDS[kind].publish(workforce=row, actor_id=request.user.surrogate_id, now=timezone.now())
    return row
