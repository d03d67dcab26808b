"""What templates of all apps are told of the person who asks."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from accounts.models import User


def person(request: HttpRequest) -> dict[str, str]:
    """Tell pages apart by person: a tab must not send one person's text as another's."""
    return {"person_mark": person_mark(getattr(request, "user", None))}


def person_mark(user: object) -> str:
    """Return what stands for a person on their pages, and tells nobody who they are; empty for strangers."""
    if not isinstance(user, User):
        return ""
    return salted_hmac("quorate.person", str(user.pk)).hexdigest()[:16]
