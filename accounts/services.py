"""Changes to people, their roles and their consent."""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from accounts.audit import record
from accounts.models import (
    Consent,
    ConsentText,
    FormerRole,
    Invitation,
    InvitationUse,
    Membership,
    Role,
    RoleWaiver,
    Scope,
    User,
)
from accounts.selectors import ACCOUNT, is_forgotten, logs_in_by
from accounts.signals import role_changed
from database.transactions import require_transaction
from web.errors import KeyedError


class InvitationError(ValueError):
    """The link cannot be used (any more)."""


class InvitationUsedBefore(InvitationError):
    """The link is good, and this person used it before."""


class RoleRefused(KeyedError):
    """A person's other roles exclude this role; the message says why."""


# Who sees other people's answers, as researchers do in releases, can neither annotate nor judge blind. Nobody judges
# where they annotate.
_EXCLUDES: dict[str, frozenset[Role]] = {
    Role.ANNOTATOR: frozenset({Role.MANAGER, Role.RESEARCHER, Role.EXPERT}),
    Role.EXPERT: frozenset({Role.MANAGER, Role.RESEARCHER, Role.ANNOTATOR}),
    Role.MANAGER: frozenset({Role.ANNOTATOR, Role.EXPERT}),
    Role.RESEARCHER: frozenset({Role.ANNOTATOR, Role.EXPERT}),
}
_BLIND = (Role.ANNOTATOR, Role.EXPERT)  # these roles are spoilt by what a person saw by another that they had before


def membership_grant(*, user: User, scope_id: UUID, role: str, actor_id: UUID | None, now: datetime) -> None:
    """Give a role; giving it twice changes nothing.

    Raises
    ------
    RoleRefused
        They could annotate or judge in a campaign whose answers they see or saw, or do both, without a waiver.
    """
    require_transaction()
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # of two roles at once, the second sees the first
    other = {"user": user, "scope_id": scope_id, "role__in": _EXCLUDES[role]}
    clashes = Membership.objects.filter(**other).exists() or (
        role in _BLIND and (user.is_admin or FormerRole.objects.filter(**other).exists())
    )
    if clashes and not RoleWaiver.objects.filter(user=user, scope_id=scope_id).exists():
        raise RoleRefused("role_excluded")
    membership, created = Membership.objects.get_or_create(user=user, scope_id=scope_id, role=Role(role))
    if created:
        record(action="membership_grant", subject=membership, now=now, actor_id=actor_id, scope_id=scope_id, role=role)


@transaction.atomic
def membership_revoke(*, membership_id: int, scope_id: UUID, actor_id: UUID | None, now: datetime) -> None:
    """Take a role away, and tell the person; nobody acts if a group of a login provider no longer gives it."""
    membership = Membership.objects.select_related("user").get(pk=membership_id, scope_id=scope_id)
    record(
        action="membership_revoke",
        subject=membership,
        now=now,
        actor_id=actor_id,
        scope_id=scope_id,
        role=membership.role,
        person=str(membership.user.surrogate_id),
    )
    role_changed.send(Membership, user=membership.user, scope_id=scope_id, role=membership.role, given=False, now=now)
    if membership.role == Role.MANAGER:  # a removed manager must not come back by their own invitation
        Invitation.objects.filter(scope_id=scope_id, created_by=membership.user.surrogate).update(uses_left=0)
    _end(membership, now)


def role_end(*, scope_id: UUID, surrogate_id: UUID, role: str, now: datetime) -> None:
    """End a role that a person gave up, if they have it."""
    require_transaction()
    own = Membership.objects.filter(scope_id=scope_id, user__surrogate_id=surrogate_id, role=role)
    for membership in own.select_related("user"):
        _end(membership, now)


def _end(membership: Membership, now: datetime) -> None:
    FormerRole.objects.get_or_create(
        scope_id=membership.scope_id, user=membership.user, role=membership.role, defaults={"at": now}
    )
    membership.delete()


def _mail(address: str, subject: str, body: str) -> None:
    def send() -> None:  # a function with a name: Django logs it where sending fails, and goes on to the next
        send_mail(subject, body, None, [address])

    transaction.on_commit(send, robust=True)


@transaction.atomic
def role_waiver_grant(*, user: User, scope_id: UUID, reason: str, actor_id: UUID, now: datetime) -> RoleWaiver:
    """Allow a person to manage a campaign and to annotate or judge in it; for administrators, on record.

    Raises
    ------
    RoleRefused
        No reason was given.
    """
    if not reason.strip():
        raise RoleRefused("waiver_reason_missing")
    waiver, created = RoleWaiver.objects.get_or_create(
        user=user, scope_id=scope_id, defaults={"reason": reason[:500], "granted_by_id": actor_id, "at": now}
    )
    if created:
        record(
            action="role_waiver_grant",
            subject=waiver,
            now=now,
            actor_id=actor_id,
            scope_id=scope_id,
            reason=reason[:500],
            person=str(user.surrogate_id),
        )
    return waiver


@transaction.atomic
def invitation_create(
    *,
    scope_id: UUID,
    role: str,
    uses: int,
    days: int,
    note: str,
    actor_id: UUID,
    now: datetime,
    label: str = "",
    email: str = "",
) -> str:
    """Create an invitation and return its token, which is shown once and stored nowhere."""
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        scope_id=scope_id,
        role=Role(role),
        token_sha256=token_hash(token),
        email=email,
        label=label,
        note=note,
        uses_left=uses,
        expires_at=now + timedelta(days=days),
        created_by_id=actor_id,
    )
    record(
        action="invitation_create",
        subject=invitation,
        now=now,
        actor_id=actor_id,
        scope_id=scope_id,
        role=role,
        uses=uses,
    )
    return token


def invitation_find(*, token_sha256: str, now: datetime) -> Invitation:
    """Return a usable invitation.

    Raises
    ------
    InvitationError
        There is no such invitation, or it is used up, withdrawn or expired.
    """
    invitation = Invitation.objects.filter(token_sha256=token_sha256, uses_left__gt=0, expires_at__gt=now).first()
    if invitation is None:
        raise InvitationError
    return invitation


@transaction.atomic
def invitations_send(
    *,
    scope_id: UUID,
    role: str,
    addresses: Sequence[str],
    days: int,
    label: str,
    link: Callable[[str], str],
    actor_id: UUID,
    now: datetime,
) -> int:
    """Invite named people, each by a mail of their own that works for their address alone; return how many.

    An earlier invitation of the same address to the same role ends.
    """
    wanted = {address.lower(): address for address in addresses}
    earlier = Invitation.objects.filter(scope_id=scope_id, role=role, uses_left__gt=0)
    for address in wanted.values():
        earlier.filter(email__iexact=address).update(uses_left=0)
        token = invitation_create(
            scope_id=scope_id,
            role=role,
            uses=1,
            days=days,
            note="",
            label=label,
            email=address,
            actor_id=actor_id,
            now=now,
        )
        text = _(
            'You\'re invited to the campaign "%(campaign)s". This link works only for this email address and expires on %(day)s.'
        ) % {
            "campaign": label,
            "day": f"{now + timedelta(days=days):%Y-%m-%d}",
        }
        _mail(
            address,
            _('Invitation to "%(campaign)s"') % {"campaign": " ".join(label.split())},
            f"{text}\n\n{link(token)}",
        )
    return len(wanted)


@transaction.atomic
def joining_restrict(*, scope_id: UUID, domain: str, provider: str | None, actor_id: UUID, now: datetime) -> None:
    """Accept only people with an address at this domain and an account at this login provider from now on.

    An empty text accepts everyone; with None the provider stays as it is.
    """
    changes = {} if provider is None else {"login_provider": provider}
    Scope.objects.filter(pk=scope_id).update(email_domain=domain.lower().removeprefix("@"), **changes)
    record(
        action="email_domain_set",
        subject=f"scope:{scope_id}",
        now=now,
        actor_id=actor_id,
        scope_id=scope_id,
        domain=domain,
        **changes,
    )


def _check_address(invitation: Invitation, user: User) -> None:
    if invitation.email and invitation.email.lower() != user.email.lower():
        raise RoleRefused("invitation_other_address")
    if invitation.role in _BLIND and is_forgotten(source=ACCOUNT, name=user.email.lower(), but_of=user):
        raise RoleRefused("address_given_up")
    domain = invitation.scope.email_domain
    if domain and not user.email.lower().endswith(f"@{domain}"):
        raise RoleRefused("invitation_domain", domain=domain)
    provider = invitation.scope.login_provider
    if provider and not logs_in_by(provider, user):
        name = next((one.name for one in settings.LOGIN_PROVIDERS if one.id == provider), provider)
        raise RoleRefused("invitation_provider", provider=name)


@transaction.atomic
def invitation_accept(*, token_sha256: str, user: User, now: datetime, mark: str = "") -> UUID:
    """Give the invited role to a user and return the scope. Each person can use a link once.

    ``mark`` is a keyed hash of the network address that they came from.

    Raises
    ------
    InvitationError
        The link cannot be used (any more), or this person used it before (`InvitationUsedBefore`).
    RoleRefused
        It was sent to another address, the campaign asks for another domain, or the roles exclude each other.
    """
    invitation = invitation_find(token_sha256=token_sha256, now=now)
    _check_address(invitation, user)
    if Membership.objects.filter(user=user, scope_id=invitation.scope_id, role=invitation.role).exists():
        return invitation.scope_id
    _use, first_time = InvitationUse.objects.get_or_create(invitation=invitation, user=user, defaults={"mark": mark})
    if not first_time:
        raise InvitationUsedBefore
    if not Invitation.objects.filter(pk=invitation.pk, uses_left__gt=0).update(uses_left=F("uses_left") - 1):
        raise InvitationError
    membership_grant(user=user, scope_id=invitation.scope_id, role=invitation.role, actor_id=user.surrogate_id, now=now)
    role_changed.send(Membership, user=user, scope_id=invitation.scope_id, role=invitation.role, given=True, now=now)
    return invitation.scope_id


@transaction.atomic
def invitation_withdraw(*, invitation_id: int, scope_id: UUID, actor_id: UUID, now: datetime) -> None:
    """Make a link useless from now on."""
    invitation = Invitation.objects.get(pk=invitation_id, scope_id=scope_id)
    Invitation.objects.filter(pk=invitation.pk).update(uses_left=0)
    record(action="invitation_withdraw", subject=invitation, now=now, actor_id=actor_id, scope_id=scope_id)


def token_hash(token: str) -> str:
    """Return the hash of an invitation's token, which is stored instead of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


def consent_text_publish(
    *,
    scope_id: UUID,
    purpose: str,
    recorded: str,
    contact: str,
    approval_id: str,
    actor_id: UUID | None,
    now: datetime,
    tells_behaviour: bool = False,
) -> ConsentText:
    """Publish a new version of the text that people agree to; everyone is asked again."""
    require_transaction()
    last = ConsentText.objects.filter(scope_id=scope_id).order_by("-version").first()
    text = ConsentText.objects.create(
        scope_id=scope_id,
        version=last.version + 1 if last else 1,
        purpose=purpose,
        recorded=recorded,
        contact=contact,
        approval_id=approval_id,
        tells_behaviour=tells_behaviour,
    )
    record(
        action="consent_text_publish",
        subject=text,
        now=now,
        actor_id=actor_id,
        scope_id=scope_id,
        version=text.version,
    )
    return text


@transaction.atomic
def consent_give(*, text_id: int, surrogate_id: UUID, now: datetime) -> None:
    """Record that a person agrees to one version; agreeing twice is the same."""
    text = ConsentText.objects.get(pk=text_id)
    _row, created = Consent.objects.get_or_create(
        text=text, surrogate_id=surrogate_id, withdrawn_at=None, defaults={"given_at": now}
    )
    if created:
        record(
            action="consent_give",
            subject=text,
            now=now,
            actor_id=surrogate_id,
            scope_id=text.scope_id,
            version=text.version,
        )


def consent_withdraw(*, scope_id: UUID, surrogate_id: UUID, now: datetime) -> None:
    """Take back every consent a person gave in a campaign."""
    require_transaction()
    taken = Consent.objects.filter(text__scope_id=scope_id, surrogate_id=surrogate_id, withdrawn_at=None)
    taken.update(withdrawn_at=now)
    record(action="consent_withdraw", subject=f"scope:{scope_id}", now=now, actor_id=surrogate_id, scope_id=scope_id)


def consent_restore(*, scope_id: UUID, surrogate_id: UUID, withdrawn_at: datetime, now: datetime) -> None:
    """Restore the consents that a person withdrew at this time, unless they have agreed again since."""
    require_transaction()
    given = Consent.objects.filter(text__scope_id=scope_id, surrogate_id=surrogate_id)
    agreed_again = list(given.filter(withdrawn_at=None).values_list("text", flat=True))
    given.filter(withdrawn_at=withdrawn_at).exclude(text__in=agreed_again).update(withdrawn_at=None)
    record(action="consent_restore", subject=f"scope:{scope_id}", now=now, actor_id=surrogate_id, scope_id=scope_id)


def consents_join(*, scope_id: UUID, before: UUID, after: UUID) -> None:
    """Move the consents of one surrogate to another of the same person, and delete those that both have."""
    require_transaction()
    given = Consent.objects.filter(text__scope_id=scope_id)
    has = set(given.filter(surrogate_id=after).values_list("text", "withdrawn_at"))
    for pk, *what in given.filter(surrogate_id=before).values_list("pk", "text", "withdrawn_at"):
        if tuple(what) not in has:
            given.filter(pk=pk).update(surrogate_id=after)
    given.filter(surrogate_id=before).delete()
