"""The lock of a campaign: for imports, launches and releases, never for people at work."""

from accounts.transactions import require_transaction
from annotation.models import Campaign


def campaign_lock(campaign: Campaign) -> None:
    """Make imports, launches and releases of a campaign wait for each other until the transaction ends.

    Submissions and claims refer to the campaign's row but never lock it, so a lock that leaves the key alone
    does not make them wait.
    """
    require_transaction()
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
