"""Roles that groups of a login provider give and take back."""

import logging
from datetime import datetime
from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.audit import record
from accounts.identities import sessions_end
from accounts.login_file import LoginProvider
from accounts.login_providers import groups_of, provider_of
from accounts.models import Invitation, Membership, ProvidedRole, Role, User
from accounts.selectors import ACCOUNT, is_forgotten
from accounts.services import RoleRefused, membership_grant, membership_revoke
from annotation.models import Campaign

logger = logging.getLogger(__name__)
ADMIN = "admin"
INACTIVE = "inactive"  # instead of a role: this provider ended the person's access


@transaction.atomic
def roles_provide(*, user: User, provider: LoginProvider, groups: frozenset[str], now: datetime) -> list[str]:
    """Give the roles of a person's groups, take those back that a group no longer gives; return refused campaigns.

    Roles that a manager gave stay as they are.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    slugs = {one.campaign for one in provider.grants if one.campaign}
    scopes = dict(Campaign.objects.filter(slug__in=slugs).values_list("slug", "pk"))
    wanted = {
        (scopes.get(one.campaign), one.role)
        for one in provider.grants
        if one.group in groups and (not one.campaign or one.campaign in scopes)
    }
    own = ProvidedRole.objects.filter(user=user, provider=provider.id)
    given = {(one.scope_id, one.role): one for one in own.exclude(role=INACTIVE)}
    for key in given.keys() - wanted:
        _take_back(given[key], now)
    refused = []
    for scope_id, role in sorted(wanted - given.keys(), key=str):
        try:
            with transaction.atomic():
                _give(user, provider, scope_id, role, now)
        except RoleRefused:
            refused += [slug for slug, known in scopes.items() if known == scope_id]
    return refused


def _give(user: User, provider: LoginProvider, scope_id: Any, role: str, now: datetime) -> None:
    if role == ADMIN:
        if user.is_admin:
            return  # by the shell: no group takes it back
        User.objects.filter(pk=user.pk).update(is_admin=True)
        user.is_admin = True
        record(action="admin_provide", subject=user, now=now, actor_id=None, provider=provider.id)
    elif role in (Role.ANNOTATOR, Role.EXPERT) and is_forgotten(source=ACCOUNT, name=user.email.lower(), but_of=user):
        raise RoleRefused("role_excluded")  # they were erased: as a new person they could get the same items
    elif Membership.objects.filter(user=user, scope_id=scope_id, role=role).exists():
        return  # by a manager
    else:
        membership_grant(user=user, scope_id=scope_id, role=role, actor_id=None, now=now)
    ProvidedRole.objects.create(user=user, provider=provider.id, scope_id=scope_id, role=role)


def _take_back(given: ProvidedRole, now: datetime) -> None:
    if given.role == ADMIN:
        User.objects.filter(pk=given.user_id).update(is_admin=False)
        given.user.is_admin = False
        record(action="admin_withdraw", subject=given.user, now=now, actor_id=None, provider=given.provider)
    elif given.scope_id is not None:
        held = Membership.objects.filter(user=given.user, scope_id=given.scope_id, role=given.role).first()
        if held is not None:
            membership_revoke(membership_id=held.pk, scope_id=given.scope_id, actor_id=None, now=now)
    given.delete()


def provided_login(request: HttpRequest, user: User, sociallogin: SocialLogin | None = None, **_options: Any) -> None:
    """Apply a person's groups after a login by a provider."""
    provider = provider_of(sociallogin.account) if sociallogin is not None else None
    if provider is None or sociallogin is None:
        return
    groups = groups_of(provider, sociallogin.account.extra_data)
    for slug in roles_provide(user=user, provider=provider, groups=groups, now=timezone.now()):
        logger.warning("a role in %s was refused, because it excludes another role of the person", slug)
        text = _("Your role in %(campaign)s conflicts with another role that you have or had there. Ask its managers.")
        messages.warning(request, text % {"campaign": slug})


def provided_account_removed(request: HttpRequest, socialaccount: SocialAccount, **_options: Any) -> None:
    """Take back what a provider gave when a person disconnects their account there: it couldn't do so any more."""
    provider = provider_of(socialaccount)
    if provider is not None:
        roles_provide(user=socialaccount.user, provider=provider, groups=frozenset(), now=timezone.now())


@transaction.atomic
def access_set(
    *, user: User, provider: LoginProvider, is_active: bool | None, groups: frozenset[str], now: datetime
) -> None:
    """Apply what a provider says of a person now.

    Who isn't active is logged out everywhere at once. Only the provider that ended someone's access can give it back;
    with None it stays as it is.
    """
    roles_provide(user=user, provider=provider, groups=frozenset() if is_active is False else groups, now=now)
    ended = {"user": user, "provider": provider.id, "scope": None, "role": INACTIVE}
    if is_active is False and User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        ProvidedRole.objects.create(**ended)
        sessions_end(user, now)
        Invitation.objects.filter(created_by=user.surrogate).update(uses_left=0)
        record(action="person_deactivate", subject=user, now=now, actor_id=None, provider=provider.id)
    elif is_active and ProvidedRole.objects.filter(**ended).delete()[0]:
        User.objects.filter(pk=user.pk).update(is_active=True)
        record(action="person_activate", subject=user, now=now, actor_id=None, provider=provider.id)
