"""The hourly pay of people, computed from the ledger alone."""

from typing import Any

import numpy as np
from django.db.models import Sum

from annotation.models import Annotation, Campaign
from workforces.models import LedgerEntry
from workforces.services.pay import TRAINING


def wages_of(campaign: Campaign) -> dict[str, Any]:
    """Return the hourly pay in cents over all people: by their active time, and by the server's clock.

    Bonuses for the training round are left out, since its duration isn't measured.
    """
    paid = {
        row["surrogate"]: row["cents"]
        for row in LedgerEntry.objects.filter(campaign=campaign)
        .exclude(kind="bonus", errand__token__startswith=TRAINING)
        .values("surrogate")
        .annotate(cents=Sum("cents"))
        .order_by("surrogate")
    }
    times = (
        Annotation.objects.filter(campaign=campaign, surrogate__in=paid)
        .values("surrogate")
        .annotate(active=Sum("active_seconds"), wall=Sum("seconds"))
        .order_by("surrogate")
    )
    found: dict[str, Any] = {"people": 0}
    for name in ("active", "wall"):
        rates = [paid[row["surrogate"]] * 3600 / row[name] for row in times if row[name]]
        found["people"] = max(found["people"], len(rates))
        if rates:
            found[name] = {"p10": round(float(np.percentile(rates, 10))), "median": round(float(np.median(rates)))}
            found[name]["all"] = sorted(round(rate) for rate in rates)
    return found
