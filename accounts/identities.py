"""The names of people and their surrogates: people without an account, renaming, and erasing."""

from contextlib import suppress
from datetime import datetime
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction

from accounts.audit import record
from accounts.models import (
    NAME_LENGTH,
    ClaimedIdentity,
    ExternalIdentity,
    ForgottenIdentity,
    Invitation,
    Surrogate,
    User,
)
from accounts.selectors import ACCOUNT, external_known, forgotten_mark


@transaction.atomic
def external_surrogate(*, source: str, name: str) -> UUID:
    """Return the surrogate of a person known by a marketplace or panel name; make one for a new name."""
    known = external_known(source=source, name=name)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            made = ExternalIdentity.objects.create(source=source, name=name, surrogate=Surrogate.objects.create())
    except IntegrityError:  # the same person in two tabs at once
        return ExternalIdentity.objects.get(source=source, name=name).surrogate_id
    return made.surrogate_id


@transaction.atomic
def claimed_surrogate(*, surrogate_id: UUID, source: str, name: str) -> None:
    """Create a surrogate for a visit with an unconfirmed name; calling it twice changes nothing."""
    surrogate, _is_new = Surrogate.objects.get_or_create(pk=surrogate_id)
    if ExternalIdentity.objects.filter(surrogate=surrogate).exists():
        return  # it was confirmed since
    ClaimedIdentity.objects.get_or_create(surrogate=surrogate, defaults={"source": source, "name": name})


@transaction.atomic
def claimed_confirm(*, surrogate_id: UUID, source: str, name: str) -> UUID:
    """Return the surrogate of a name that was confirmed for a visit: the visit's own, if the name is new."""
    claimed_forget(surrogate_id=surrogate_id)
    with suppress(IntegrityError), transaction.atomic():
        if not ExternalIdentity.objects.filter(source=source, name=name).exists():
            ExternalIdentity.objects.create(source=source, name=name, surrogate_id=surrogate_id)
    return ExternalIdentity.objects.get(source=source, name=name).surrogate_id


def claimed_forget(*, surrogate_id: UUID) -> None:
    """Delete the unconfirmed name of a visit, which belongs to no known person."""
    ClaimedIdentity.objects.filter(surrogate_id=surrogate_id).delete()


def external_erase(*, identity: ExternalIdentity, actor_id: UUID | None, now: datetime) -> None:
    """Delete the identity of a marketplace person; their work stays, but nothing links it to them."""
    with transaction.atomic():
        Surrogate.objects.filter(pk=identity.surrogate_id).update(erased_at=now)
        ClaimedIdentity.objects.filter(source=identity.source, name=identity.name).delete()
        ForgottenIdentity.objects.get_or_create(
            mark=forgotten_mark(identity.source, identity.name), defaults={"at": now}
        )
        record(action="external_erase", subject=f"surrogate:{identity.surrogate_id}", now=now, actor_id=actor_id)
        identity.delete()


def address_forget(*, address: str, user: User | None, now: datetime) -> None:
    """Store a keyed mark of an address, so that its owner can't start again as a new person.

    Pass ``user`` if the account stays: that person may use the address again.
    """
    mark = forgotten_mark(ACCOUNT, address.lower())
    ForgottenIdentity.objects.get_or_create(mark=mark, defaults={"at": now, "user": user})


def _proven_addresses(user: User) -> set[str]:
    """Return the addresses known to be this person's. An unconfirmed address may be another person's."""
    is_confirmed = dict(EmailAddress.objects.filter(user=user).values_list("email", "verified"))
    return {address for address in {user.email, *is_confirmed} if is_confirmed.get(address, True)}


def user_rename(*, user: User, name: str) -> None:
    """Change the name that managers see for a person; with an empty name they see the address."""
    User.objects.filter(pk=user.pk).update(name=" ".join(name.split())[:NAME_LENGTH])


def sessions_of(now: datetime) -> dict[User, list[datetime]]:
    """Return when the current sessions of each person end; people without one are left out."""
    found: dict[str, list[datetime]] = {}
    for session in Session.objects.filter(expire_date__gt=now).iterator():
        if key := session.get_decoded().get("_auth_user_id"):
            found.setdefault(key, []).append(session.expire_date)
    users = User.objects.filter(pk__in=found)
    return {user: found[str(user.pk)] for user in users}


def sessions_end(user: User, now: datetime) -> int:
    """Log a person out everywhere; return how many sessions ended."""
    user_key, ended = str(user.pk), 0
    for session in Session.objects.filter(expire_date__gt=now).iterator():
        if session.get_decoded().get("_auth_user_id") == user_key:
            session.delete()
            ended += 1
    return ended


@transaction.atomic
def user_erase(*, user: User, actor_id: UUID | None, now: datetime) -> None:
    """Erase a person: name, address, logins, roles and the key of their pseudonyms. Their work stays."""
    surrogate = user.surrogate
    surrogate.erased_at = now
    surrogate.save(update_fields=["erased_at"])
    record(action="user_erase", subject=surrogate, now=now, actor_id=actor_id)
    for address in _proven_addresses(user):
        address_forget(address=address, user=None, now=now)
        Invitation.objects.filter(email__iexact=address).update(email="", uses_left=0)
    Invitation.objects.filter(created_by=surrogate).update(uses_left=0)
    sessions_end(user, now)
    user.delete()


@transaction.atomic
def unconfirmed_delete(user: User) -> None:
    """Delete an account with an unconfirmed address, and its surrogate. Such an account has no work."""
    user.delete()
    Surrogate.objects.filter(pk=user.surrogate_id).delete()
