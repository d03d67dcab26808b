"""What must not happen to a campaign at the same time."""

from accounts.transactions import require_transaction
from annotation.models import Campaign


def campaign_lock(campaign: Campaign) -> None:
    """Make imports, launches and releases of a campaign wait for each other until the transaction ends."""
    require_transaction()
    Campaign.objects.select_for_update().get(pk=campaign.pk)
