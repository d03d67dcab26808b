"""Pages for leaderboards and for predictions scored against a release."""

import math
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.models import Campaign
from annotation.tasktypes.base import Judging
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.boards.gold import metrics_of
from evaluation.boards.ladder import LEAST_STEP, LEAST_UNITS
from evaluation.boards.metrics import METRICS
from evaluation.models import Board, Team, TeamMember
from evaluation.predicted.views import predicted_systems
from evaluation.rectified.views import judged_systems
from evaluation.release_scores import predictions_help, score_request, scores_of, splits_scored
from evaluation.services import MOST_BYTES, BoardError, board_create, submission_add, team_enter
from evaluation.system_scores import has_systems
from exports.models import Release, ReleaseState
from exports.selectors.sealing import closed_among
from web.error_texts import error_text

MOST = 100


@login_required
@require_http_methods(["GET", "POST"])
def systems(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how systems compare, in a campaign in which people judge answers or find them on pages."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    if not has_systems(campaign):
        raise Http404
    is_judging = isinstance(TASK_TYPES[campaign.task_type], Judging)
    return (judged_systems if is_judging else predicted_systems)(request, campaign)


class BoardForm(forms.Form):
    """A form for creating a board: its release, split and metric."""

    release = forms.TypedChoiceField(label=gettext_lazy("Release"))
    split = forms.ChoiceField(
        label=gettext_lazy("Split"),
        help_text=format_lazy(gettext_lazy("With at least {least} labeled items."), least=LEAST_UNITS),
    )
    metric = forms.ChoiceField(label=gettext_lazy("Metric"))
    step = forms.FloatField(
        label=gettext_lazy("Rounding step"),
        initial=0.01,
        min_value=LEAST_STEP,
        max_value=0.5,
        help_text=gettext_lazy(
            "For sealed splits, scores are rounded to this step, and smaller improvements aren't shown."
        ),
    )
    a_day = forms.IntegerField(
        label=gettext_lazy("Submissions per team in 24 hours"), initial=3, min_value=1, max_value=100
    )

    def __init__(self, campaign: Campaign, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        ready = Release.objects.select_related("campaign").filter(campaign=campaign, state=ReleaseState.READY)
        sealed = sealed_names(campaign)
        releases = [one for one in ready.order_by("-number")[:MOST] if not closed_among(one, sealed)]
        chosen = cast("forms.TypedChoiceField", self.fields["release"])
        chosen.choices = [(one.pk, f"{one.number}: {', '.join(one.splits)} ({one.family})") for one in releases]
        chosen.coerce = {str(one.pk): one for one in releases}.__getitem__
        metrics = dict.fromkeys(metric for one in releases for metric in metrics_of(one))
        cast("forms.ChoiceField", self.fields["metric"]).choices = [(key, METRICS[key].title) for key in metrics]
        splits = dict.fromkeys(name for one in releases for name in one.splits)
        cast("forms.ChoiceField", self.fields["split"]).choices = [(name, name) for name in splits]


class TeamForm(forms.Form):
    """A form for entering a board: the team's name, and its code to join an existing team."""

    name = forms.CharField(label=gettext_lazy("Team"), max_length=60)
    code = forms.CharField(
        label=gettext_lazy("Team code"),
        max_length=20,
        required=False,
        help_text=gettext_lazy(
            "To join an existing team, enter its code. Its members can see the code. Leave empty to create a team."
        ),
    )


class SubmissionForm(forms.Form):
    """Predictions of a system."""

    system = forms.CharField(label=gettext_lazy("System"), max_length=100)
    file = forms.FileField(label=gettext_lazy("Predictions"))
    threshold = forms.FloatField(
        label=gettext_lazy("Threshold"),
        help_text=gettext_lazy(
            "Predictions scored at or above this value count as answers; lower ones count as no answer. Choose the threshold that works best on a split with known labels."
        ),
    )

    def __init__(self, board: Board, *data: Any) -> None:
        super().__init__(*data)
        self.fields["file"].help_text, self.sample = METRICS[board.metric].file, METRICS[board.metric].sample
        if not board.metric.endswith("-f1"):
            del self.fields["threshold"]

    def clean_threshold(self) -> float:
        """Reject a value that isn't a number."""
        value: float = self.cleaned_data["threshold"]
        if not math.isfinite(value):
            raise forms.ValidationError(_("Enter a number."))
        return value


@login_required
@require_http_methods(["GET", "POST"])
def boards(request: HttpRequest, slug: str) -> HttpResponse:
    """List the boards of a campaign; POST makes one."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    may_make = Action.MANAGE in request.campaign_actions  # type: ignore[attr-defined]
    form = BoardForm(campaign, request.POST or None) if may_make else None
    if request.method == "POST":
        if form is None:
            raise PermissionDenied
        if form.is_valid():
            try:
                made = board_create(actor_id=signed_in(request).surrogate_id, now=timezone.now(), **form.cleaned_data)
                return redirect("board", slug=slug, board_number=made.number)
            except BoardError as error:
                form.add_error(None, error_text(error))
    rows = Board.objects.filter(campaign=campaign).select_related("release").order_by("-number")[:MOST]
    context = {"campaign": campaign, "boards": [(row, METRICS[row.metric].title) for row in rows], "form": form}
    return render(request, "evaluation/boards.html", context)


@login_required
@require_GET
def board(request: HttpRequest, slug: str, board_number: int) -> HttpResponse:
    """Show the ranking of systems and, to a team member, the team's submissions."""
    found = _board(request, slug, board_number)
    return _page(request, found)


def _board(request: HttpRequest, slug: str, number: int) -> Board:
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    return get_object_or_404(Board.objects.select_related("release", "campaign"), campaign=campaign, number=number)


def _page(request: HttpRequest, found: Board, *, form: forms.Form | None = None, status: int = 200) -> HttpResponse:
    sealed = sealed_names(found.campaign)
    closed = closed_among(found.release, sealed)
    is_over = found.is_sealed and found.split not in sealed  # unsealed: now every score is told
    score = "submissions__exact" if is_over else "submissions__score"
    teams = Team.objects.filter(board=found).annotate(best=Max(score), tries=Count("submissions"))
    own = (
        TeamMember.objects.select_related("team").filter(board=found, surrogate=signed_in(request).surrogate_id).first()
    )
    team = own.team if own else None
    context: dict[str, Any] = {
        "campaign": found.campaign,
        "board": found,
        "closed": closed,
        "is_over": is_over,
        "metric": METRICS[found.metric],
        "team": team,
        "teams": teams.order_by(F("best").desc(nulls_last=True), "name")[:1000],
        "history": team.submissions.select_related("job").order_by("-pk")[:MOST] if team else [],
        "form": form or (SubmissionForm(found) if team else TeamForm()),
    }
    return render(request, "evaluation/board.html", context, status=status)


@login_required
@require_POST
def enter(request: HttpRequest, slug: str, board_number: int) -> HttpResponse:
    """Create a team, or join one."""
    found, form = _board(request, slug, board_number), TeamForm(request.POST)
    if form.is_valid():
        try:
            team_enter(
                board=found, surrogate_id=signed_in(request).surrogate_id, now=timezone.now(), **form.cleaned_data
            )
            return redirect("board", slug=slug, board_number=board_number)
        except BoardError as error:
            form.add_error(None, error_text(error))
    return _page(request, found, form=form, status=422)


@login_required
@require_POST
def submit(request: HttpRequest, slug: str, board_number: int) -> HttpResponse:
    """Accept a file of predictions and queue it for scoring."""
    found = _board(request, slug, board_number)
    form = SubmissionForm(found, request.POST, request.FILES)
    if form.is_valid():
        data = form.cleaned_data
        try:
            submission_add(
                board=found,
                file=data["file"],
                name=data["file"].name,
                system=data["system"],
                options={"threshold": data["threshold"]} if "threshold" in data else {},
                surrogate_id=signed_in(request).surrogate_id,
                now=timezone.now(),
            )
            messages.success(request, _("Your file is being scored. Reload this page in a moment."))
            return redirect("board", slug=slug, board_number=board_number)
        except BoardError as error:
            form.add_error(None, error_text(error))
    return _page(request, found, form=form, status=422)


class PredictionsForm(forms.Form):
    """Predictions to score against a split of a release."""

    file = forms.FileField(label=gettext_lazy("Predictions"))
    split = forms.ChoiceField(label=gettext_lazy("Split"))

    def __init__(self, release: Release, splits: list[str], *data: Any) -> None:
        super().__init__(*data)
        self.fields["file"].help_text, self.sample = predictions_help(release)
        cast("forms.ChoiceField", self.fields["split"]).choices = [(name, name) for name in splits]

    def clean_file(self) -> Any:
        """Refuse a file that is empty or too large."""
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(error_text(BoardError("submission_size", most=MOST_BYTES)))
        return file


@login_required
@require_http_methods(["GET", "POST"])
def score(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Score predictions against a release, and show the latest results."""
    campaign = campaign_for(request, slug, Action.RELEASE)
    release = get_object_or_404(Release.objects.select_related("campaign"), campaign=campaign, number=number)
    splits = splits_scored(release)
    form = PredictionsForm(release, splits, *([request.POST, request.FILES] if request.method == "POST" else []))
    if form.is_valid():
        file = form.cleaned_data["file"]
        score_request(
            release=release,
            split=form.cleaned_data["split"],
            file=file,
            name=file.name,
            actor_id=signed_in(request).surrogate_id,
            now=timezone.now(),
        )
        return redirect("release-score", slug=slug, number=number)
    scores = scores_of(release)
    context = {
        "campaign": campaign,
        "release": release,
        "splits": splits,
        "form": form,
        "scores": scores,
        "is_waiting": not all(job.is_finished for job in scores),
    }
    return render(request, "evaluation/release_score.html", context)
