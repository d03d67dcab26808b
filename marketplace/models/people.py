"""The users: requesters with their keys, workers with their accounts."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from marketplace.models.fields import MoneyField


class Requester(models.Model):
    """A requester: posts HITs and pays. The balances are sums over the ledger, stored here and updated under a lock."""

    name = models.CharField(max_length=100, unique=True)
    customer_id = models.CharField(max_length=64, unique=True)
    fee_rules = models.CharField(max_length=20, default="published")
    signs_frames = models.BooleanField(default=False)
    key_generation = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    deposited = MoneyField(default=Decimal(0))
    available = MoneyField(default=Decimal(0))
    held = MoneyField(default=Decimal(0))
    paid = MoneyField(default=Decimal(0))
    fees = MoneyField(default=Decimal(0))

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="requester_money_adds_up",
                condition=Q(deposited=F("available") + F("held") + F("paid") + F("fees")),
            ),
            models.CheckConstraint(
                name="requester_never_overdrawn",
                condition=Q(available__gte=0, held__gte=0, paid__gte=0, fees__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AccessKey(models.Model):
    """An access key. Its secret is derived from the installation's key and isn't stored."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="access_keys")
    key_id = models.CharField(max_length=20, unique=True)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.key_id


class WorkerManager(BaseUserManager["Worker"]):
    """Creates workers through the interface that Django and allauth expect."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "Worker":
        """Create a worker with a password, or with an unusable password."""
        worker = self.model(email=self.normalize_email(email), **fields)
        worker.set_password(password)
        worker.save(using=self._db)
        return worker


class Worker(AbstractBaseUser):
    """A worker, who does HITs."""

    email = models.EmailField(_("email address"), unique=True)
    worker_id = models.CharField(max_length=64, unique=True)
    display_name = models.CharField(max_length=100, blank=True)
    country = models.CharField(max_length=2, blank=True)
    subdivision = models.CharField(max_length=2, blank=True)
    is_adult_content_ok = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField()
    agreed_at = models.DateTimeField(null=True)
    # A record from before this marketplace, given when workers are seeded; real decisions add to it.
    prior_approved = models.PositiveIntegerField(default=0)
    prior_rejected = models.PositiveIntegerField(default=0)

    USERNAME_FIELD = "email"
    objects = WorkerManager()

    def __str__(self) -> str:
        return self.worker_id


class WorkerBlock(models.Model):
    """A requester's block of a worker: no further work is accepted."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="one_block_a_worker")]

    def __str__(self) -> str:
        return f"{self.requester} blocks {self.worker}"


class SignupInvitation(models.Model):
    """A sign-up link for workers; only a hash of its token is stored."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    uses_left = models.PositiveIntegerField()
    expires_at = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return self.note or self.token_sha256[:8]
