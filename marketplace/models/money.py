"""The ledger: a permanent record of every movement of a requester's money."""

from django.db import models
from django.db.models import F, Q

from marketplace.models.fields import MoneyField
from marketplace.models.hits import Assignment, Bonus, Hit
from marketplace.models.people import Requester


class LedgerEntry(models.Model):
    """One movement between a requester's balances; the deposited amount always equals the sum of the others."""

    class Kind(models.TextChoices):
        """The reason for a movement of money."""

        DEPOSIT = "deposit"
        HOLD = "hold"
        RELEASE = "release"
        REWARD = "reward"
        BONUS = "bonus"

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="ledger")
    kind = models.CharField(max_length=8, choices=Kind)
    deposited = MoneyField(default=0)
    available = MoneyField(default=0)
    held = MoneyField(default=0)
    paid = MoneyField(default=0)
    fees = MoneyField(default=0)
    hit = models.ForeignKey(Hit, null=True, on_delete=models.PROTECT)
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.PROTECT)
    bonus = models.ForeignKey(Bonus, null=True, on_delete=models.PROTECT)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="entry_adds_up",
                condition=Q(deposited=F("available") + F("held") + F("paid") + F("fees")),
            ),
            # A reward and a bonus are paid once, whatever is retried.
            models.UniqueConstraint(fields=["assignment"], condition=Q(kind="reward"), name="one_reward_an_assignment"),
            models.UniqueConstraint(fields=["bonus"], condition=Q(kind="bonus"), name="one_entry_a_bonus"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d}"
