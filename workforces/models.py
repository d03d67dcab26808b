"""How people come to a campaign, their submissions, and their pay.

Terms: a posting is a HIT, a bundle of at most nine tickets of a campaign, not bound to an item; a ticket
is one assignment of it. A task at a marketplace is an `Errand`: the row is written first, then the call is made.
"""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _

from web.request_log import current_request_id
from workforces.kinds.registry import KINDS

MOST_PLACES = 9  # the tenth assignment of a HIT costs an extra fee, and 9 can never be extended to 10


def new_token() -> str:
    """Return 32 random characters for an address or a signature."""
    return secrets.token_urlsafe(24)


class Workforce(models.Model):
    """One source of people for a campaign, with its terms (see `annotation.workforces`)."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="workforces")
    kind = models.CharField(max_length=10)  # a key of `workforces.kinds.registry.KINDS`
    key = models.CharField(max_length=43, unique=True, default=new_token, editable=False)  # in its addresses
    secret = models.CharField(max_length=43, default=new_token, editable=False)  # with which a panel signs addresses
    terms = models.JSONField(default=dict)
    is_active = models.BooleanField(default=True)
    spent_stop = models.BooleanField(default=False)  # the cap was reached: nothing new is posted
    serial = models.PositiveIntegerField(default=0)  # postings made so far
    remote = models.JSONField(default=dict)  # what the marketplace calls things of ours
    source = models.CharField(max_length=100)  # by whom its people are known: identities are looked up under it
    problem = models.CharField(max_length=500, blank=True)  # what keeps it from going on, for a manager
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "kind"], name="workforce_once")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.campaign_id}"

    @property
    def title(self) -> str:
        """The name of its kind on pages."""
        return str(KINDS[self.kind].title)

    @property
    def path(self) -> str:
        """The address by which people arrive, the same for all of them; members have none."""
        door = KINDS[self.kind].door
        return f"/{door}/{self.key}/" if door else ""


class PostingState(models.TextChoices):
    """The state of a posting. A settled one isn't read anymore: all its accepted work is known and decided."""

    WANTED = "wanted", _("Waiting to be posted")
    OPEN = "open", _("Open")
    ENDING = "ending", _("Ending")
    ENDED = "ended", _("Ended")
    SETTLED = "settled", _("Settled")


class Posting(models.Model):
    """A HIT, or a study of a panel, with some tickets for the people who take them."""

    workforce = models.ForeignKey(Workforce, on_delete=models.CASCADE, related_name="postings")
    number = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    terms = models.JSONField(default=dict)  # as they were when it was posted: what its work is paid by
    state = models.CharField(max_length=10, choices=PostingState, default=PostingState.WANTED)
    hit_id = models.CharField(max_length=64, blank=True)
    # A person who is owed for work that they could not submit: a posting that only they can take.
    owed_to = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    wanted_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    touched_at = models.DateTimeField()  # when a person last took a ticket of it, or it was posted
    pulled_at = models.DateTimeField(null=True, blank=True)  # when its submissions were last read
    tried_at = models.DateTimeField(null=True, blank=True)  # when reading them was last tried

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workforce", "number"], name="posting_number"),
            models.UniqueConstraint(fields=["hit_id"], condition=~models.Q(hit_id=""), name="posting_hit_once"),
            models.CheckConstraint(condition=models.Q(places__gte=1), name="posting_places_at_least_one"),
        ]
        indexes = [
            models.Index(fields=["workforce", "state"], name="posting_by_state"),
        ]

    def __str__(self) -> str:
        return f"posting {self.number}"


class TicketState(models.TextChoices):
    """The state of a ticket. ``answered`` is the person's claim; ``submitted`` is confirmed by the marketplace."""

    OPEN = "open", _("In progress")
    ANSWERED = "answered", _("Answered, not confirmed")
    SUBMITTED = "submitted", _("Submitted")
    APPROVED = "approved", _("Approved")
    REFUSED = "refused", _("Refused")
    UNMATCHED = "unmatched", _("Needs a decision")
    LAPSED = "lapsed", _("Expired")


class Ticket(models.Model):
    """One person's assignment of a posting (or one visit by a link).

    A marketplace gives the id of a returned assignment to the next worker, so a ticket is identified by
    both ``remote_id`` and the person. An unsigned address is a claim and doesn't prove an identity: each such
    visit has its own ticket and surrogate, until the other side confirms who it was.
    """

    workforce = models.ForeignKey(Workforce, on_delete=models.CASCADE, related_name="tickets")
    posting = models.ForeignKey(Posting, null=True, on_delete=models.CASCADE, related_name="tickets")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="tickets")
    remote_id = models.CharField(max_length=200)
    code = models.CharField(max_length=40)  # comes back in the answer: proof that it is ours
    is_signed = models.BooleanField(default=False)  # the other side vouched for the person in the address
    visit = models.UUIDField(null=True, unique=True)  # of an unsigned visit: what its address holds
    state = models.CharField(max_length=10, choices=TicketState, default=TicketState.OPEN)
    outcome = models.CharField(max_length=20, blank=True)  # link: completed, screened_out, nothing_left
    opened_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    trained = models.BooleanField(default=False)  # the training round was done with this ticket
    problem = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workforce", "remote_id", "surrogate"], name="ticket_once"),
        ]
        indexes = [
            models.Index(fields=["posting", "state"], name="ticket_by_posting"),
            models.Index(fields=["workforce", "state", "submitted_at"], name="ticket_by_state"),
            models.Index(fields=["surrogate", "workforce"], name="ticket_by_person"),
        ]

    def __str__(self) -> str:
        return f"ticket {self.pk}"


class ErrandKind(models.TextChoices):
    """The kind of task at the marketplace."""

    PUBLISH = "publish", _("Publish")
    EXPIRE = "expire", _("Expire posting")
    APPROVE = "approve", _("Approve")
    REJECT = "reject", _("Refuse pay")
    BONUS = "bonus", _("Bonus")
    GRANT = "grant", _("Block from new postings")
    REVOKE = "revoke", _("Allow in new postings again")
    NOTIFY = "notify", _("Message")


class ErrandState(models.TextChoices):
    """The state of an errand: ``due`` (can be undone) → ``sending`` → ``confirmed``."""

    DUE = "due", _("Due")
    SENDING = "sending", _("Sending")
    CONFIRMED = "confirmed", _("Confirmed")
    UNDONE = "undone", _("Undone")
    FAILED = "failed", _("Needs a decision")


class Errand(models.Model):
    """One task at a marketplace, to be done exactly once.

    ``token`` is sent with the call and is the same in every attempt. If an attempt may have succeeded
    unnoticed, and the marketplace has forgotten the token, the state is read back first.
    """

    workforce = models.ForeignKey(Workforce, on_delete=models.CASCADE, related_name="errands")
    kind = models.CharField(max_length=10, choices=ErrandKind)
    posting = models.ForeignKey(Posting, null=True, on_delete=models.CASCADE, related_name="errands")
    ticket = models.ForeignKey(Ticket, null=True, on_delete=models.CASCADE, related_name="errands")
    surrogate = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    cents = models.PositiveIntegerField(default=0)
    text = models.CharField(max_length=1000, blank=True)
    token = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=ErrandState, default=ErrandState.DUE)
    due_at = models.DateTimeField()
    sending_since = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)
    # What the other side calls a payment that it makes in two steps, and which step came last.
    remote_id = models.CharField(max_length=80, blank=True, default="", db_default="")
    decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    request_id = models.CharField(max_length=64, blank=True, default=current_request_id, db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ticket", "kind"],
                condition=models.Q(kind__in=["approve", "reject"], state__in=["due", "sending", "confirmed"]),
                name="errand_pay_once",
            ),
        ]
        indexes = [
            models.Index(  # by kind, since kinds take turns: a publication is found beside ten thousand approvals
                fields=["workforce", "kind", "due_at", "id"],
                condition=models.Q(state__in=["due", "sending"]),
                name="errand_in_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.token}"


class LedgerEntry(models.Model):
    """A payment, append-only: written in the transaction in which we learn of it."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.PROTECT, related_name="ledger")
    workforce = models.ForeignKey(Workforce, on_delete=models.PROTECT, related_name="ledger")
    ticket = models.ForeignKey(Ticket, on_delete=models.PROTECT, related_name="ledger")
    errand = models.ForeignKey(Errand, null=True, on_delete=models.PROTECT, related_name="ledger")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=[("reward", _("Reward")), ("bonus", _("Bonus"))])
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ticket"], condition=models.Q(kind="reward"), name="ledger_reward_once"),
            models.UniqueConstraint(fields=["errand"], condition=models.Q(kind="bonus"), name="ledger_bonus_once"),
        ]
        indexes = [models.Index(fields=["campaign", "id"], name="ledger_by_campaign")]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents}"


class PayHold(models.Model):
    """A hold on a person's pay while a manager decides about them, at most until ``until``."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="pay_holds")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="pay_hold_once")]

    def __str__(self) -> str:
        return f"held until {self.until:%Y-%m-%d %H:%M}"


class PayRefusal(models.Model):
    """A refusal of a person's pay: their later submissions wait for a manager, until the refusal is reversed.

    For an unconfirmed visit, the refusal is carried out after the confirmation, with the reason that the person reads,
    and the mark by which it can be reversed.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="pay_refusals")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    reason = models.CharField(max_length=1000, blank=True)
    mark = models.CharField(max_length=100, blank=True)
    decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="pay_refusal_once")]

    def __str__(self) -> str:
        return f"refused {self.at:%Y-%m-%d %H:%M}"


class TicketWork(models.Model):
    """An annotation submitted with a ticket. Deleted when its author withdraws, because it would identify them."""

    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="work")
    annotation = models.OneToOneField("annotation.Annotation", on_delete=models.CASCADE, related_name="ticket_work")

    def __str__(self) -> str:
        return f"{self.annotation_id} with {self.ticket_id}"


class AppealState(models.TextChoices):
    """The state of an appeal."""

    OPEN = "open", _("Open")
    GRANTED = "granted", _("Granted")
    DENIED = "denied", _("Denied")


class Appeal(models.Model):
    """A person's request to reconsider a refusal of pay."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="appeals")
    ticket = models.OneToOneField("workforces.Ticket", on_delete=models.PROTECT, related_name="appeal")
    text = models.CharField(max_length=2000)
    state = models.CharField(max_length=10, choices=AppealState, default=AppealState.OPEN)
    created_at = models.DateTimeField()
    answer = models.CharField(max_length=2000, blank=True)
    decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"appeal {self.state}"
