"""Move the clock. Development only: otherwise the commands refuse."""

from datetime import datetime, timedelta

from django.db import transaction

from marketplace.models import ClockSetting


def clock_advance(*, by: timedelta) -> None:
    """Move the clock forward, running or stopped."""
    with transaction.atomic():
        setting, _ = ClockSetting.objects.select_for_update().get_or_create(pk=1)
        setting.offset_seconds += int(by.total_seconds())
        if setting.frozen_at is not None:
            setting.frozen_at += by
        setting.save()


def clock_freeze(*, at: datetime) -> None:
    """Stop the clock at a moment."""
    ClockSetting.objects.update_or_create(pk=1, defaults={"frozen_at": at})


def clock_reset() -> None:
    """Set the clock back to real time."""
    ClockSetting.objects.filter(pk=1).delete()
