"""The lock of a campaign: for imports, launches and releases, never for people at work."""

from accounts.models import Scope
from annotation.models import Campaign
from database.transactions import require_transaction


def campaign_lock(campaign: Campaign) -> None:
    """Make imports, launches and releases of a campaign wait for each other until the transaction ends.

    The row that is locked is the campaign's scope: people at work refer to it but change nothing of it, and its
    key is left alone. The campaign's own row would not do: a second round that opens changes its queue version.
    """
    require_transaction()
    Scope.objects.select_for_update(no_key=True).get(pk=campaign.pk)
