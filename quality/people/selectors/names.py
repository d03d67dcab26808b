"""The names of people, shown to managers only: a person has the same name on every page."""

from collections.abc import Iterable
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import ExternalIdentity, User


def names_of(surrogate_ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """Return a name for each id: from the account, else the marketplace or panel, else a shortened id."""
    wanted = {one for one in surrogate_ids if one}
    names = {one: _("Person %(mark)s") % {"mark": one.hex[:8]} for one in wanted}
    names |= dict(ExternalIdentity.objects.filter(surrogate_id__in=wanted).values_list("surrogate_id", "name"))
    return names | {user.surrogate_id: str(user) for user in User.objects.filter(surrogate_id__in=wanted)}
