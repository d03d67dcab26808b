"""The one clock of the marketplace.

In development, `manage.py marketplace_clock` can move and stop the clock; elsewhere it shows the real
time. Signatures are always checked against the real time.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from database.statements import Statement
from marketplace.models import ClockSetting

_SETTING = Statement(lambda pk: ClockSetting.objects.filter(pk=pk), int)


def now() -> datetime:
    """Return the marketplace's time."""
    if not settings.MARKETPLACE_DEVELOPMENT:
        return timezone.now()
    setting = _SETTING.first(1)
    if setting is None:
        return timezone.now()
    return setting.frozen_at or timezone.now() + timedelta(seconds=setting.offset_seconds)
