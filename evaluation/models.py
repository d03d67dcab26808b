"""Leaderboards, the teams on them, and what they submitted."""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _


def new_code() -> str:
    """Return a new code, which a member gives to a colleague who wants to join the team."""
    return secrets.token_urlsafe(9)


class Board(models.Model):
    """A split of a release, and the metric by which systems are scored against it.

    ``is_sealed`` says whether the split was sealed when the board was created. If it was, the board only shows scores
    that `evaluation.boards.ladder` permits.
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
    """A group of people who submit together. Submission limits apply per team."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=60)
    code = models.CharField(max_length=20, default=new_code)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "name"], name="team_name")]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """The membership of a person in a team. A person can be in only one team per board."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="members")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "surrogate"], name="one_team_a_person")]

    def __str__(self) -> str:
        return f"{self.surrogate_id} in {self.team_id}"


class SubmissionState(models.TextChoices):
    """The outcome of a submission."""

    WAITING = "waiting", _("Being scored")
    SHOWN = "shown", _("Scored")
    NOT_SHOWN = "not_shown", _("Not enough improvement")
    REFUSED = "refused", _("Could not be scored")


class Submission(models.Model):
    """A file of predictions. The file is deleted once it is scored.

    ``score`` is the score shown, ``exact`` the actual one. On a sealed split, ``exact`` is shown once the split is
    unsealed. ``values`` is kept for the last submission that a sealed board showed, to compare the next one with it.
    It reveals labels, so it never appears on a page or in a log.
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


class SystemSample(models.Model):
    """The questions of a comparison of systems, and the random sample of them whose answers people judge.

    ``drawn_in`` is the job of the first upload: later ones may know the sample. ``questions`` are the ids of all questions, in the order of the first upload; ``judged`` the places of the sample.
    """

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    questions = models.JSONField()
    judged = models.JSONField()
    drawn_in = models.UUIDField()
    drawn_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{len(self.judged)} of {len(self.questions)} questions"


class JudgedSystem(models.Model):
    """A system whose answers people judge.

    ``scores`` are its automatic scores, in the order of the sample's questions. ``items`` are the ids of the items in which
    its answers to the judged questions are judged, in their order; empty where it gave no answer. ``is_first``: it came with
    the upload that drew the sample.
    """

    MOST_NAME = 100

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="judged_systems")
    name = models.CharField(max_length=MOST_NAME)
    scores = models.JSONField()
    items = models.JSONField()
    is_first = models.BooleanField()
    added_at = models.DateTimeField()
    added_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="judged_system_once")]

    def __str__(self) -> str:
        return self.name


class PredictedSystem(models.Model):
    """A system whose answers experts judge among people's; it answers like one more annotator.

    ``sha256`` is that of the uploaded predictions with their least scores (`evaluation.predicted.services`): the same upload
    again changes nothing, another one under this name is refused.
    """

    MOST_NAME = 100

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="predicted_systems")
    name = models.CharField(max_length=MOST_NAME)
    sha256 = models.CharField(max_length=64)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="predicted_system_once")]

    def __str__(self) -> str:
        return self.name


class DrawnItem(models.Model):
    """An item that was drawn for experts to compare systems, once and for all: it stays when the systems are removed.

    ``place`` is its place in the order of all draws. ``case`` is where experts judge it; it's empty where neither the systems
    nor the annotator found anything to judge.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+", db_index=False)
    item = models.OneToOneField("annotation.Item", on_delete=models.PROTECT, related_name="drawn")
    place = models.PositiveIntegerField()
    case = models.ForeignKey("quality.Case", null=True, on_delete=models.PROTECT, related_name="+")
    drawn_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "place"], name="drawn_place_once")]

    def __str__(self) -> str:
        return f"item {self.item_id} at place {self.place}"


class PredictedAnswer(models.Model):
    """A system's answer to an item, in the form of an annotation's; ``drawn`` if it was sent to experts."""

    system = models.ForeignKey(PredictedSystem, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="+")
    answer = models.JSONField()
    drawn = models.ForeignKey(DrawnItem, null=True, on_delete=models.PROTECT, related_name="answers")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["system", "item"], name="predicted_answer_once")]

    def __str__(self) -> str:
        return f"{self.system_id} on {self.item_id}"


class SystemScores(models.Model):
    """The scores of a campaign's systems, computed by a job."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"scores of {self.campaign_id}"
