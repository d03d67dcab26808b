"""What a campaign still lacks before its first launch, with the page where each is set."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import Membership, Role
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.models import Batch, Campaign, Item, Purpose
from quality.models import CampaignPlan, GoldKey, GoldKeyState
from workforces.models import Workforce


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to prepare.

    Attributes
    ----------
    if_missing
        What happens at the launch without it.
    url
        The name of the address where it is prepared.
    """

    label: Promise
    is_done: bool
    if_missing: Promise
    url: str
    button: Promise


def launch_checklist(campaign: Campaign) -> list[Step]:
    """Return the steps before a launch in the order of work, by at most nine lookups in indexes."""
    has_annotators = Membership.objects.filter(scope_id=campaign.pk, role=Role.ANNOTATOR).exists()
    return [
        Step(
            _("Items"),
            Item.objects.filter(campaign=campaign, batch__purpose=Purpose.WORK).exists(),
            _("There is nothing to annotate."),
            "campaign-import",
            _("Import items"),
        ),
        Step(
            _("Guidelines"),
            bool(guideline_current(campaign).body.strip()),
            _("Annotators see only the questions and the buttons."),
            "campaign-guidelines",
            _("Write guidelines"),
        ),
        Step(
            _("Pilot"),
            Batch.objects.filter(campaign=campaign, purpose=Purpose.PILOT).exists(),
            _("Unclear guidelines are found only after annotators have been paid."),
            "pilot",
            _("Start a pilot"),
        ),
        Step(
            _("Gold questions"),
            GoldKey.objects.filter(campaign=campaign, state=GoldKeyState.ACTIVE).exists(),
            _("Nobody's accuracy is measured, so careless work isn't noticed."),
            "quality-gold",
            _("Add gold questions"),
        ),
        *_experts_for_gold(campaign),
        Step(
            _("Annotators"),
            has_annotators or Workforce.objects.filter(campaign=campaign).exists(),
            _("Nobody is invited to annotate."),
            "campaign-people",
            _("Invite annotators"),
        ),
        Step(
            _("Plan"),
            CampaignPlan.objects.filter(campaign=campaign).exists(),
            _("There is no forecast of cost and label quality to compare the results with."),
            "campaign-plan",
            _("Make a plan"),
        ),
    ]


def _experts_for_gold(campaign: Campaign) -> list[Step]:
    """Return the step of inviting experts, if gold questions wait for one."""
    if not GoldKey.objects.filter(campaign=campaign, state=GoldKeyState.WAITING).exists():
        return []
    return [
        Step(
            _("Experts"),
            Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT).exists(),
            _("Gold questions are waiting for an expert, and this campaign has no experts."),
            "campaign-people",
            _("Invite experts"),
        )
    ]
