"""The preparations that a campaign still lacks before its first launch, with the page for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, Max, OuterRef, Sum
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accounts.models import ConsentText, Invitation, Membership, Role
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.models import Batch, BatchState, Campaign, Item, Purpose, Slot, SlotState, Split
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from quality.models import CampaignPlan, GoldKey, GoldKeyState
from quality.policies.policy import Policy, Process
from quality.policies.selectors import policy_current
from workforces.models import Workforce
from workforces.services.terms import terms_of


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to prepare.

    Attributes
    ----------
    if_missing
        The consequence of launching without it.
    url
        The URL name of the page where it is prepared.
    """

    label: Promise
    is_done: bool
    if_missing: Promise | str
    url: str
    button: Promise


def launch_checklist(campaign: Campaign) -> list[Step]:
    """Return the steps before a launch in the order of work, by at most fifteen lookups in indexes."""
    workforces = list(Workforce.objects.filter(campaign=campaign))
    return [
        Step(
            _("Items"),
            Item.objects.filter(campaign=campaign, batch__purpose=Purpose.WORK).exists(),
            _("There is nothing to annotate."),
            "campaign-import",
            _("Import items"),
        ),
        *_empty_splits(campaign),
        Step(
            _("Guidelines"),
            bool(guideline_current(campaign).body.strip()),
            _("Annotators see only the questions and buttons, without instructions."),
            "campaign-guidelines",
            _("Write guidelines"),
        ),
        _pilot(campaign),
        *_gold(campaign),
        _annotators(campaign, workforces),
        *_pay(campaign, workforces),
        Step(
            _("Consent"),
            ConsentText.objects.filter(scope=campaign.pk).exists(),
            _("Annotators aren't told what is recorded and why."),
            "campaign-settings",
            _("Write the consent text"),
        ),
        *_plan(campaign),
    ]


def _annotators(campaign: Campaign, workforces: Sequence[Workforce]) -> Step:
    """Return the step of inviting annotators: at least as many as one item may need, unless a crowd is recruited."""
    invitations = Invitation.objects.filter(scope_id=campaign.pk, role=Role.ANNOTATOR, expires_at__gt=timezone.now())
    invited = Membership.objects.filter(scope_id=campaign.pk, role=Role.ANNOTATOR).count()
    invited += invitations.aggregate(left=Sum("uses_left"))["left"] or 0
    needed = Split.objects.filter(campaign=campaign, weight__gt=0).aggregate(most=Max("n"))["most"] or 1
    found = policy_current(campaign)
    said = _("An item needs {needed} different annotators, and you've invited {invited}.")
    if isinstance(TASK_TYPES[campaign.task_type], Voted) and (found[1] if found else Policy()).process is Process.PAPER:
        needed *= 2  # a second round needs as many annotators who did not vote in the first
        said = _(
            "An item without a majority gets a second round with other annotators. It needs up to {needed} annotators, and you've invited {invited}."
        )
    why: Promise | str = _("You haven't invited any annotators yet.")
    if invited:
        why = format_lazy(said, needed=needed, invited=invited)
    is_done = bool(workforces) or invited >= needed
    return Step(_("Annotators"), is_done, why, "campaign-people", _("Invite annotators"))


def _pilot(campaign: Campaign) -> Step:
    """Return the step of a pilot, which is done once nobody has any of its items left to annotate."""
    launched = Batch.objects.filter(campaign=campaign, purpose=Purpose.PILOT).exclude(state=BatchState.DRAFT)
    if not launched.exists():
        if Batch.objects.filter(campaign=campaign, purpose=Purpose.PILOT, items__isnull=False).exists():
            why = _("The pilot's items are ready, but the pilot isn't launched.")
            return Step(_("Pilot"), False, why, "pilot", _("Go to the pilot"))
        why = _("You'd find unclear guidelines only after the annotation.")
        return Step(_("Pilot"), False, why, "pilot", _("Start a pilot"))
    unfinished = Slot.objects.filter(
        campaign=campaign, item__batch__purpose=Purpose.PILOT, state__in=[SlotState.OPEN, SlotState.HELD]
    )
    why = _("The pilot is still running. Review its results before you launch the campaign.")
    return Step(_("Pilot"), not unfinished.exists(), why, "pilot", _("View the pilot"))


def _empty_splits(campaign: Campaign) -> list[Step]:
    """Return the step of filling empty splits, if all items were drawn into others."""
    has_items = Exists(Item.objects.filter(split=OuterRef("pk")))
    splits = Split.objects.filter(campaign=campaign, weight__gt=0).annotate(has_items=has_items)
    empty = [split.name for split in splits.order_by("position") if not split.has_items]
    if not empty or len(empty) == len(splits):  # without any items, that is the step to take
        return []
    why = _("No items in these splits: {names}. Splits are drawn at random, so small ones can stay empty.")
    return [Step(_("Splits"), False, format_lazy(why, names=", ".join(empty)), "campaign-import", _("Import items"))]


def _plan(campaign: Campaign) -> list[Step]:
    """Return the step of making a plan, where votes can be forecast."""
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        return []
    return [
        Step(
            _("Plan"),
            CampaignPlan.objects.filter(campaign=campaign).exists(),
            _("Without a forecast of cost and label quality, you can't compare results with expectations."),
            "campaign-plan",
            _("Create a plan"),
        )
    ]


def _gold(campaign: Campaign) -> list[Step]:
    """Return the step of adding gold questions, and that of inviting experts if gold questions wait for one."""
    states = set(GoldKey.objects.filter(campaign=campaign).values_list("state", flat=True).distinct())
    is_waiting, is_used = GoldKeyState.WAITING in states, GoldKeyState.ACTIVE in states
    why = _("Accuracy isn't measured, so careless work goes unnoticed.")
    if is_waiting:
        why = _("No gold question is in use yet: they wait until experts confirm them.")
    button = _("View gold questions") if is_waiting else _("Add gold questions")
    step = Step(_("Gold questions"), is_used, why, "quality-gold", button)
    if not is_waiting:
        return [step]
    return [
        step,
        Step(
            _("Experts"),
            Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT).exists(),
            _("Gold questions are waiting for an expert, and this campaign has no experts."),
            "campaign-people",
            _("Invite experts"),
        ),
    ]


def _pay(campaign: Campaign, workforces: Sequence[Workforce]) -> list[Step]:
    """Return the step of paying enough, if anyone is paid, at the task type's expected time per item."""
    seconds = TASK_TYPES[campaign.task_type].usual_seconds
    terms = [terms_of(row) for row in workforces]
    if not any(one.floor_cents_per_hour for one in terms):
        return []
    enough = [one.reward_cents * 3600 >= one.floor_cents_per_hour * seconds * one.items_per_ticket for one in terms]
    return [
        Step(
            _("Pay"),
            all(enough),
            _("At the expected time per item, the hourly pay is below your minimum."),
            "quality-workforces",
            _("Check the pay"),
        )
    ]
