"""What is known about people, their roles and their consent."""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Consent, ConsentText, Membership


def consent_text_current(scope_id: UUID) -> ConsentText | None:
    """Return the version that people are asked for now."""
    return ConsentText.objects.filter(scope_id=scope_id).order_by("-version").first()


def consent_is_current(*, scope_id: UUID, surrogate_id: UUID) -> bool:
    """Return whether a person agreed to the current version and did not take it back."""
    text = consent_text_current(scope_id)
    if text is None:
        return False
    return Consent.objects.filter(text=text, surrogate_id=surrogate_id, withdrawn_at=None).exists()


def memberships_of_scope(scope_id: UUID) -> QuerySet[Membership]:
    """Return everyone's roles in a campaign, by name."""
    return (
        Membership.objects.filter(scope_id=scope_id).select_related("user").order_by("user__name", "user__email", "id")
    )
