"""The lock of a campaign, for imports, launches and releases; annotators never wait for it."""

from accounts.models import Scope
from annotation.models import Campaign
from database.transactions import require_transaction


def campaign_lock(campaign: Campaign) -> None:
    """Make imports, launches and releases of a campaign wait for each other until the transaction ends.

    The locked row is the campaign's scope: annotators' work refers to that row, but doesn't change it or its key.
    The campaign's own row wouldn't work, because opening a second round changes its queue version.
    """
    require_transaction()
    Scope.objects.select_for_update(no_key=True).get(pk=campaign.pk)
