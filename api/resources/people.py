"""People: members, invitations, and the standing of annotators."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from ninja import Field, Query, Router

from accounts.models import Invitation, Membership, Role
from accounts.permissions import Action
from accounts.services import invitation_create, invitation_withdraw, invitations_send, membership_revoke
from annotation.models import Participation
from annotation.people.forms import InvitationForm, NamedInvitationsForm
from annotation.people.views.people import INVITED_BY_MANAGERS
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.problems import Refused
from api.http.rows import row_of
from api.models import TokenScope
from quality.people.selectors.names import names_of
from quality.people.services.manager_acts import ManagerAct, person_act

router = Router()


class MemberReply(Reply):
    """A person's role in the campaign."""

    id: int = Field(validation_alias="pk")
    person: UUID = Field(validation_alias="user.surrogate_id")
    name: str = Field(validation_alias="user.name")
    email: str = Field(validation_alias="user.email")
    role: str
    created_at: datetime


class InvitationReply(Reply):
    """An invitation. Its link is shown only in the answer that creates it."""

    id: int = Field(validation_alias="pk")
    role: str
    uses_left: int
    email: str
    note: str
    expires_at: datetime
    link: str | None = None


class InvitationSent(Sent):
    """An invitation link to create."""

    role: str
    uses: int = 1
    days: int = 14
    note: str = ""


class NamedSent(Sent):
    """People to invite by email."""

    role: str
    addresses: list[str] = Field(min_length=1, max_length=500)
    days: int = 14


class SentReply(Reply):
    """The number of queued emails."""

    sent: int


class PersonReply(Reply):
    """An annotator in the campaign."""

    id: UUID
    name: str
    standing: str
    submitted: int
    served: int


class PersonActSent(Sent):
    """An act on an annotator, who reads the reason."""

    act: Literal["warn", "pause", "suspend", "reinstate", "exclude", "count_again"]
    reason: str = Field(min_length=1, max_length=1000)
    since: datetime | None = Field(None, description="The start time for exclude and count_again.")


def _roles(request: ApiRequest) -> list[Role]:
    """Return the roles that a person may give: managers invite who works, administrators everyone."""
    return list(Role) if request.user.is_admin else list(INVITED_BY_MANAGERS)


@operation(router, "GET", "/campaigns/{campaign}/members", Page[MemberReply], action=Action.MANAGE)
def member_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the members of a campaign with their roles."""
    return page_of(request, Membership.objects.filter(scope_id=request.campaign.pk).select_related("user"), asked)


@operation(
    router,
    "DELETE",
    "/campaigns/{campaign}/members/{int:membership_id}",
    None,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=204,
)
def member_remove(request: ApiRequest, campaign: str, membership_id: int) -> Any:
    """Remove a role. Only administrators remove managers and researchers."""
    rows = Membership.objects.filter(scope_id=request.campaign.pk)
    member = row_of(rows, pk=membership_id, role__in=_roles(request))
    actor_id, now = request.user.surrogate_id, timezone.now()
    membership_revoke(membership_id=member.pk, scope_id=request.campaign.pk, actor_id=actor_id, now=now)


@operation(router, "GET", "/campaigns/{campaign}/invitations", Page[InvitationReply], action=Action.MANAGE)
def invitation_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the invitations that can still be used."""
    return page_of(request, Invitation.objects.filter(scope_id=request.campaign.pk, uses_left__gt=0), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/invitations",
    InvitationReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    secrets=("link",),
    status=201,
)
def invitation_new(request: ApiRequest, campaign: str, sent: InvitationSent) -> Any:
    """Create an invitation link. The link is in this answer only."""
    cleaned = checked(InvitationForm(_roles(request), sent.dict()))
    token = invitation_create(
        scope_id=request.campaign.pk,
        label=request.campaign.title,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
        **cleaned,
    )
    made = Invitation.objects.filter(scope_id=request.campaign.pk).latest("pk")
    link = settings.PLATFORM_URL + reverse("invitation", args=[token])
    names = ("pk", "role", "uses_left", "email", "note", "expires_at")
    return {**{name: getattr(made, name) for name in names}, "link": link}


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/invitations:send",
    SentReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def invitation_send(request: ApiRequest, campaign: str, sent: NamedSent) -> Any:
    """Invite people by email, each with a link that works for their address only."""
    data = {**sent.dict(), "addresses": "\n".join(sent.addresses)}
    cleaned = checked(NamedInvitationsForm(_roles(request), data))
    count = invitations_send(
        scope_id=request.campaign.pk,
        label=request.campaign.title,
        link=lambda token: settings.PLATFORM_URL + reverse("invitation", args=[token]),
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
        **cleaned,
    )
    return {"sent": count}


@operation(
    router,
    "DELETE",
    "/campaigns/{campaign}/invitations/{int:invitation_id}",
    None,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=204,
)
def invitation_end(request: ApiRequest, campaign: str, invitation_id: int) -> Any:
    """Withdraw an invitation."""
    rows = Invitation.objects.filter(scope_id=request.campaign.pk)
    found = row_of(rows, pk=invitation_id, role__in=_roles(request))
    actor_id, now = request.user.surrogate_id, timezone.now()
    invitation_withdraw(invitation_id=found.pk, scope_id=request.campaign.pk, actor_id=actor_id, now=now)


@operation(router, "GET", "/campaigns/{campaign}/people", Page[PersonReply], action=Action.MANAGE)
def person_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the annotators with their standing."""
    page = page_of(request, Participation.objects.filter(campaign=request.campaign), asked)
    names = names_of([row.surrogate_id for row in page["results"]])
    return {**page, "results": [_person(row, names) for row in page["results"]]}


def _person(row: Participation, names: dict[UUID, str]) -> dict[str, Any]:
    return {
        "id": row.surrogate_id,
        "name": names[row.surrogate_id],
        "standing": row.standing,
        "submitted": row.submitted,
        "served": row.served,
    }


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/people/{person}/act",
    PersonReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def person_change(request: ApiRequest, campaign: str, person: UUID, sent: PersonActSent) -> Any:
    """Warn, pause, suspend or reinstate an annotator, or exclude their work, with a reason that they read."""
    if sent.since is not None and sent.since.tzinfo is None:
        raise Refused(422, "invalid", "since: state the time zone, for example 2026-12-01T08:00:00Z.")
    person_act(
        campaign=request.campaign,
        surrogate_id=person,
        act=ManagerAct(sent.act),
        reason=sent.reason,
        since=sent.since,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    row = Participation.objects.get(campaign=request.campaign, surrogate_id=person)
    return _person(row, names_of([person]))
