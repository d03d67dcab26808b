"""People's identities, kept apart from their work.

Work refers to a `Surrogate`, which says nothing about anyone. The `User` row holds everything
personal and can be erased; after that nothing leads from the work to the person.
"""

import secrets
import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.translation import gettext_lazy as _

NAME_LENGTH = 150


def new_key() -> bytes:
    """Return a fresh key for a person's pseudonyms."""
    return secrets.token_bytes(32)


class Surrogate(models.Model):
    """A stand-in for a person in all work: an id and nothing else."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # No other times: when a surrogate was made could lead back to a person who withdrew at that moment.
    erased_at = models.DateTimeField(null=True, blank=True)
    # Behind the pseudonyms of whom nothing names, where an archive of another installation said so; see `exports`.
    key = models.BinaryField(null=True, editable=False)

    def __str__(self) -> str:
        return f"person {str(self.id)[:8]}"


class UserManager(BaseUserManager["User"]):
    """Create users with their surrogate."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a saved user with a surrogate of their own."""
        fields.setdefault("surrogate", None)
        surrogate = fields.pop("surrogate") or Surrogate.objects.create()
        user = self.model(email=self.normalize_email(email), surrogate=surrogate, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_confirmed(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a saved user whose address needs no confirmation by email, because a command created the user."""
        from allauth.account.models import EmailAddress  # noqa: PLC0415  it needs this module's users

        user = self.create_user(email, password, **fields)
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a saved administrator, who can log in before email works."""
        return self.create_confirmed(email, password, is_admin=True, **fields)


class User(AbstractBaseUser):
    """The erasable person: everything that names a person, and the key behind their pseudonyms."""

    email = models.EmailField(_("email address"), unique=True)
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True)
    surrogate = models.OneToOneField(Surrogate, on_delete=models.PROTECT, related_name="user")
    key = models.BinaryField(default=new_key, editable=False)
    is_active = models.BooleanField(default=True)
    is_admin = models.BooleanField(default=False)
    date_joined = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_staff(self) -> bool:
        """Whether the person is an administrator. Allauth and Django's own checks read this."""
        return self.is_admin


class ExternalIdentity(models.Model):
    """A person without an account here, as named by a marketplace or panel. The row can be erased."""

    source = models.CharField(max_length=100)  # the marketplace or panel that gave the name
    name = models.CharField(max_length=200)  # what they are called there
    surrogate = models.OneToOneField(Surrogate, on_delete=models.PROTECT, related_name="external")
    key = models.BinaryField(default=new_key, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="external_identity_once")]

    def __str__(self) -> str:
        return f"person of {self.source}"


class ForgottenIdentity(models.Model):
    """A keyed mark of an erased person: it recognizes them if they return, and doesn't lead to their work.

    Without the mark, a returning person would be a new annotator and could get the same items again.
    """

    mark = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField()
    # Whose account goes on after they gave an address up; nobody after that account is erased.
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"forgotten on {self.at:%Y-%m-%d}"


class ClaimedIdentity(models.Model):
    """The unconfirmed name of a visit. It isn't trusted until the other side confirms it, and can be erased."""

    source = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    surrogate = models.OneToOneField(Surrogate, on_delete=models.PROTECT, related_name="claimed")

    class Meta:
        indexes = [models.Index(fields=["source", "name"], name="claimed_identity_by_name")]

    def __str__(self) -> str:
        return f"a person who claims to come from {self.source}"


class Scope(models.Model):
    """The object that roles, consent and audit events refer to. Each campaign is one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email_domain = models.CharField(max_length=200, blank=True)  # if set, everyone who is invited has an address there
    # If set, everyone who is invited logs in by this provider (`settings.LOGIN_PROVIDERS`).
    login_provider = models.CharField(max_length=100, blank=True, default="", db_default="")

    def __str__(self) -> str:
        return str(self.id)


class Role(models.TextChoices):
    """A person's role in a campaign."""

    ANNOTATOR = "annotator", _("Annotator")
    EXPERT = "expert", _("Expert")
    MANAGER = "manager", _("Manager")
    RESEARCHER = "researcher", _("Researcher")


class Membership(models.Model):
    """One person's role in one campaign."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "user", "role"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id}"


class ProvidedRole(models.Model):
    """A role that a group of a login provider gave, and takes back: in a campaign, or as administrator without one."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="provided_roles")
    provider = models.CharField(max_length=100)
    scope = models.ForeignKey(Scope, null=True, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "provider", "scope", "role"], nulls_distinct=False, name="provided_role_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id} by {self.provider}"


class FormerRole(models.Model):
    """A record that a person had a role in a campaign, because they keep what they saw in that role."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=20, choices=Role)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "user", "role"], name="former_role_once")]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id} until {self.at:%Y-%m-%d}"


class RoleWaiver(models.Model):
    """An administrator's permission for one person to manage a campaign and judge or annotate in it, with the reason.

    Small labs need it; releases print it.
    """

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="role_waivers")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")  # releases name nobody
    reason = models.CharField(max_length=500)
    granted_by = models.ForeignKey(Surrogate, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "user"], name="role_waiver_once")]

    def __str__(self) -> str:
        return f"waiver of {self.at:%Y-%m-%d}"


class Invitation(models.Model):
    """A link that gives a role. Only its hash is stored."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, choices=Role)
    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)  # to whom alone it was sent
    label = models.CharField(max_length=200, blank=True)  # what it is an invitation to
    note = models.CharField(max_length=200, blank=True)
    uses_left = models.PositiveIntegerField(default=1)
    expires_at = models.DateTimeField()
    created_by = models.ForeignKey(Surrogate, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"invitation as {self.role}"


class InvitationUse(models.Model):
    """A record that a person accepted an invitation: a link works once for each person."""

    invitation = models.ForeignKey(Invitation, on_delete=models.CASCADE, related_name="uses")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    # A keyed hash of the network address: equal ones are a hint that two accounts may be one person, never a verdict.
    mark = models.CharField(max_length=16, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["invitation", "user"], name="invitation_once_per_person")]

    def __str__(self) -> str:
        return f"use of {self.invitation_id}"


class ConsentText(models.Model):
    """One version of the text that people agree to in a campaign."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField()
    purpose = models.TextField(_("purpose"))
    recorded = models.TextField(_("what is recorded and for how long"))
    contact = models.CharField(_("contact"), max_length=300)
    approval_id = models.CharField(_("ethics approval"), max_length=100, blank=True)
    tells_behaviour = models.BooleanField(default=False)  # that ways of working are compared; the words are ours
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "version"], name="consent_text_version")]

    def __str__(self) -> str:
        return f"consent text {self.version}"

    @property
    def click_log_days(self) -> int:
        """The number of days after which click logs are deleted."""
        days: int = settings.CLICK_LOG_DAYS
        return days


class Consent(models.Model):
    """A record that a person agreed to one version, and whether they withdrew that consent."""

    text = models.ForeignKey(ConsentText, on_delete=models.PROTECT, related_name="consents")
    surrogate = models.ForeignKey(Surrogate, on_delete=models.PROTECT, related_name="consents")
    given_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["text", "surrogate"], condition=models.Q(withdrawn_at=None), name="consent_once"
            )
        ]

    def __str__(self) -> str:
        return f"consent to {self.text_id}"


class AuditEvent(models.Model):
    """One state change by a person or a rule. Rows are never changed or deleted (a trigger refuses)."""

    at = models.DateTimeField()
    actor = models.ForeignKey(Surrogate, null=True, on_delete=models.PROTECT, related_name="+")
    scope = models.ForeignKey(Scope, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=100)
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["scope", "id"], name="audit_by_scope")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
