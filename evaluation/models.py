"""Leaderboards, the teams on them, and what they submitted."""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _


def new_code() -> str:
    """Return what a member tells a colleague who shall join their team."""
    return secrets.token_urlsafe(9)


class Board(models.Model):
    """A split of a release, and the metric by which systems are scored against it.

    ``is_sealed`` says that the split was when the board was made: then it shows what `evaluation.boards.ladder` lets out, and
    nothing else.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="boards")
    release = models.ForeignKey("exports.Release", on_delete=models.PROTECT, related_name="boards")
    number = models.PositiveIntegerField()
    split = models.CharField(max_length=30)
    metric = models.CharField(max_length=20)
    step = models.FloatField()  # the least improvement that is shown
    a_day = models.PositiveIntegerField()  # submissions of a team
    is_sealed = models.BooleanField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="board_number"),
            models.UniqueConstraint(fields=["release", "split", "metric"], name="board_once"),
            # With several, the labels of one split would be told as often as there are releases of it.
            models.UniqueConstraint(
                fields=["campaign", "split", "metric"], condition=models.Q(is_sealed=True), name="sealed_board_once"
            ),
        ]

    def __str__(self) -> str:
        return f"board {self.number}"


class Team(models.Model):
    """People who submit together: limits count teams."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=60)
    code = models.CharField(max_length=20, default=new_code)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "name"], name="team_name")]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """That a person is in a team, and in no other of the board."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="members")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "surrogate"], name="one_team_a_person")]

    def __str__(self) -> str:
        return f"{self.surrogate_id} in {self.team_id}"


class SubmissionState(models.TextChoices):
    """What became of a submission."""

    WAITING = "waiting", _("Being scored")
    SHOWN = "shown", _("Scored")
    NOT_SHOWN = "not_shown", _("Not enough improvement")
    REFUSED = "refused", _("Could not be scored")


class Submission(models.Model):
    """A file of predictions. The file is deleted once it is scored.

    ``score`` is what is shown, ``exact`` what it is: of a sealed split it is shown once that is unsealed. ``values`` is kept of
    the last one that a sealed board showed, to compare the next one with; it tells labels, and is in no page or log.
    """

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="submissions")
    submitted_by = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    system = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=SubmissionState, default=SubmissionState.WAITING)
    attempt = models.PositiveIntegerField(null=True)  # of all that were scored against these labels
    score = models.FloatField(null=True)
    exact = models.FloatField(null=True)
    values = models.BinaryField(null=True)
    error = models.CharField(max_length=1000, blank=True)
    job = models.ForeignKey("jobs.Job", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["team", "created_at"], name="submission_by_team")]

    def __str__(self) -> str:
        return f"submission {self.pk}"
