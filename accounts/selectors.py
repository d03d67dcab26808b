"""Reading people, their roles and their consent."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils.crypto import salted_hmac

from accounts.models import Consent, ConsentText, ExternalIdentity, ForgottenIdentity, InvitationUse, Membership, User
from database.statements import Statement

_FORGOTTEN = Statement(lambda mark: ForgottenIdentity.objects.filter(mark=mark).values_list("pk")[:1], str)
ACCOUNT = "account"  # the source of people who have an account here; their name is their address in lower case


def forgotten_mark(source: str, name: str) -> str:
    """Return the keyed mark by which an erased person is recognized."""
    return salted_hmac("quorate.forgotten", f"{source}\n{name}", algorithm="sha256").hexdigest()


def is_forgotten(*, source: str, name: str, but_of: User | None = None) -> bool:
    """Return whether this person was erased, or an account other than ``but_of`` gave up this address."""
    mark = forgotten_mark(source, name)
    if but_of is None:
        return bool(_FORGOTTEN.rows(mark))
    return ForgottenIdentity.objects.filter(mark=mark).exclude(user=but_of).exists()


def logs_in_by(provider: str, user: User) -> bool:
    """Return whether a person has an account at a login provider."""
    if not settings.LOGIN_PROVIDERS:  # allauth's table of them isn't there
        return False
    from allauth.socialaccount.models import SocialAccount  # noqa: PLC0415  installed for the providers alone

    return bool(SocialAccount.objects.filter(provider=provider, user=user).exists())


def external_known(*, source: str, name: str) -> UUID | None:
    """Return the surrogate of a person known by a marketplace or panel name, or None."""
    found: ExternalIdentity | None = _NAMED.first(source, name)
    return found.surrogate_id if found is not None else None


_NAMED = Statement(lambda source, name: ExternalIdentity.objects.filter(source=source, name=name), str, str)


def is_known(column: str = "surrogate") -> Q:
    """Return the condition that a row belongs to a person with an account or a confirmed external identity."""
    surrogate = OuterRef(column)
    return Q(Exists(ExternalIdentity.objects.filter(surrogate=surrogate))) | Q(
        Exists(User.objects.filter(surrogate=surrogate))
    )


def consent_text_current(scope_id: UUID) -> ConsentText | None:
    """Return the version that people are asked for now."""
    return ConsentText.objects.filter(scope_id=scope_id).order_by("-version").first()


def consent_is_current(*, scope_id: UUID, surrogate_id: UUID) -> bool:
    """Return whether a person agreed to the current version and did not take it back."""
    return bool(_CONSENT.rows(scope_id, surrogate_id))


def _consent_query(scope_id: UUID, surrogate_id: UUID) -> QuerySet[Consent, Any]:
    return Consent.objects.filter(consent_of(scope_id=scope_id, surrogate_id=surrogate_id)).values_list("pk")[:1]


_CONSENT = Statement(_consent_query, UUID, UUID)


def consent_of(*, scope_id: UUID | OuterRef, surrogate_id: UUID) -> Q:
    """Return the condition that a consent is current, to use in larger queries."""
    current = ConsentText.objects.filter(scope_id=scope_id).order_by("-version").values("pk")[:1]
    return Q(text_id=Subquery(current), surrogate_id=surrogate_id, withdrawn_at=None)


def knows_of_behaviour(*, scope_id: UUID, surrogate_id: UUID) -> bool:
    """Return whether a person agreed to a text that says that annotators' behavior is compared."""
    return people_told_of_behaviour(scope_id=scope_id).filter(surrogate_id=surrogate_id).exists()


def people_told_of_behaviour(*, scope_id: UUID) -> QuerySet[Consent, UUID]:
    """Return a query of the surrogates who agreed to a text that says that annotators' behavior is compared."""
    given = Consent.objects.filter(text__scope_id=scope_id, text__tells_behaviour=True, withdrawn_at=None)
    return given.values_list("surrogate_id", flat=True)


def left_since(*, scope_id: UUID, person: UUID, visit: UUID) -> bool:
    """Return whether a person withdrew from a campaign after giving consent in one of their visits."""
    given = Consent.objects.filter(text__scope_id=scope_id)
    left_at = given.filter(surrogate_id=person).aggregate(at=Max("withdrawn_at"))["at"]
    return left_at is not None and not agreed_since(scope_id=scope_id, surrogate_id=visit, at=left_at)


def agreed_since(*, scope_id: UUID, surrogate_id: UUID, at: datetime) -> bool:
    """Return whether a person gave a consent after a moment that is still in force."""
    given = Consent.objects.filter(text__scope_id=scope_id, surrogate_id=surrogate_id)
    return given.filter(withdrawn_at=None, given_at__gt=at).exists()


def shared_addresses(scope_id: UUID) -> dict[int, int]:
    """Return, by user, how many people of a campaign accepted invitations from their network address, if several did.

    A class, a lab or a family can share an address too, so this is only a hint.
    """
    uses = InvitationUse.objects.filter(invitation__scope_id=scope_id).exclude(mark="")
    people: dict[str, set[int]] = {}
    for mark, user_id in uses.values_list("mark", "user_id"):
        people.setdefault(mark, set()).add(user_id)
    return {user_id: len(same) for same in people.values() if len(same) > 1 for user_id in same}


def memberships_of_scope(scope_id: UUID) -> QuerySet[Membership]:
    """Return everyone's roles in a campaign, by name."""
    return (
        Membership.objects.filter(scope_id=scope_id).select_related("user").order_by("user__name", "user__email", "id")
    )
