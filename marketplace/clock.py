"""The one clock of the marketplace.

In development, `manage.py marketplace_clock` can move and stop the clock; elsewhere it shows the real
time. Signatures are always checked against the real time.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from marketplace.models import ClockSetting


def now() -> datetime:
    """Return the marketplace's time."""
    if not settings.MARKETPLACE_DEVELOPMENT:
        return timezone.now()
    setting = ClockSetting.objects.filter(pk=1).first()
    if setting is None:
        return timezone.now()
    return setting.frozen_at or timezone.now() + timedelta(seconds=setting.offset_seconds)
