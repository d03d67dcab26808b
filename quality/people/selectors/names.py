"""What people are called, for managers only."""

from uuid import UUID

from accounts.models import ExternalIdentity, User


def names_of(surrogate_ids: list[UUID | None]) -> dict[UUID, str]:
    """Return what people are called where they come from."""
    wanted = [one for one in surrogate_ids if one]
    names = dict(ExternalIdentity.objects.filter(surrogate_id__in=wanted).values_list("surrogate_id", "name"))
    names |= {user.surrogate_id: str(user) for user in User.objects.filter(surrogate_id__in=wanted)}
    return names
