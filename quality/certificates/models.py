"""The certificates of a campaign's labels: the claim, the frozen labels, and the record, line by line."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from quality.experts.models import Case
from quality.labels.models import Verdict


class CertificateState(models.TextChoices):
    """The state of a certificate."""

    FREEZING = "freezing", _("Freezing labels")
    FROZEN = "frozen", _("Waiting for the seed")
    JUDGING = "judging", _("Experts are judging")
    CERTIFIED = "certified", _("Certified")
    ENDED = "ended", _("Ended without a certificate")


UNFINISHED = (CertificateState.FREEZING, CertificateState.FROZEN, CertificateState.JUDGING)


class Certificate(models.Model):
    """The claim that at most the share ``error`` of the frozen labels is wrong, and the audit that tests it.

    ``record`` says everything; ``judged``, ``wrong``, and ``numbers`` repeat its current result for pages:
    the bounds ``low`` and ``high`` of the share of wrong labels, the items that two experts judged (``twice``) and on which
    they differed (``differ``), their ``kappa``, and the number of further judgments that are needed at least
    (``fewest_left``).
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="certificates")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=CertificateState, default=CertificateState.FREEZING)
    size = models.PositiveIntegerField(default=0)  # labels
    error = models.FloatField()
    risk = models.FloatField()
    guess = models.FloatField()
    twice = models.FloatField()  # the share of items that two experts judge
    source = models.CharField(max_length=500, blank=True)
    commitments = models.JSONField(default=dict)  # by name, the SHA-256 of a text
    frozen_at = models.DateTimeField()
    frozen_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    published = models.CharField(max_length=64, blank=True)  # the hash of the record's first line
    seed = models.TextField(blank=True)
    drawn_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    judged = models.PositiveIntegerField(default=0)
    wrong = models.PositiveIntegerField(default=0)
    numbers = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="certificate_number_once"),
            models.UniqueConstraint(
                fields=["campaign"],
                condition=models.Q(state__in=["freezing", "frozen", "judging"]),
                name="certificate_unfinished_once",
            ),
        ]

    def __str__(self) -> str:
        return f"certificate {self.number}"


class CertificateLabel(models.Model):
    """A frozen label: its place in the order of judgment, and the case in which experts judge its item.

    Labels beyond the first ten thousand in the order have no place.
    """

    certificate = models.ForeignKey(Certificate, on_delete=models.CASCADE, related_name="labels", db_index=False)
    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="+")
    place = models.PositiveIntegerField(null=True)
    case = models.OneToOneField(Case, null=True, on_delete=models.PROTECT, related_name="certificate_label")
    is_wrong = models.BooleanField(null=True)  # once it is in the record

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["certificate", "verdict"], name="certificate_label_once"),
            models.UniqueConstraint(fields=["certificate", "place"], name="certificate_place_once"),
        ]

    def __str__(self) -> str:
        return f"{self.certificate_id}: {self.verdict_id}"


class CertificateLine(models.Model):
    """A line of a record, exactly as it is published (`quality.certificates.entries`). Never changed."""

    certificate = models.ForeignKey(Certificate, on_delete=models.CASCADE, related_name="lines", db_index=False)
    number = models.PositiveIntegerField()
    line = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["certificate", "number"], name="certificate_line_once")]

    def __str__(self) -> str:
        return self.line[:60]
