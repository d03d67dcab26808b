"""The notices that people read about their standing."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.models import Standing


def notice_for(standing: Standing, because: dict[str, Any]) -> str:
    """Return the notice about a change of standing: the reason given, if there is one."""
    if because.get("reason"):
        return str(because["reason"])
    if "rule" in because:
        return _("Something about your recent work stood out. A manager is reviewing it. Submitted work is kept.")
    return notice_of(standing)


def notice_of(standing: Standing) -> str:
    """Return the notice for a person whose standing was changed by the rules."""
    if standing == Standing.WARNED:
        return _(
            "You gave wrong answers to several questions whose correct answer is known. Please read the guidelines again."
        )
    if standing == Standing.PAUSED:
        return _(
            "You missed many questions whose correct answer is known. You won't get new items until a manager reviews your work. If no manager decides in time, held pay for your submitted work is paid out."
        )
    return _("A manager has suspended you from this campaign.")
