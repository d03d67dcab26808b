"""The page with statistics on how people work, so that managers can decide whose work to check first."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.access import campaign_for
from quality.models import BehaviourSnapshot
from quality.people.selectors.names import names_of
from quality.people.services.behaviour import behaviour_request

# What each signal is called, and what it says of a person (by the numbers of `measures.behaviour`).
SIGNALS = {
    "pace": (
        _("Much faster than others"),
        _("Takes %(ratio)s of the time that others take on the same items (%(answers)s answers)"),
    ),
    "sameness": (_("Uniform answers"), _("The same answer in %(share)s of %(answers)s answers")),
    "twins": (
        _("Same answers as another annotator"),
        _("Same answer as %(other)s on %(same)s of %(shared)s shared items (usual agreement with others: %(usual)s)"),
    ),
    "untrusted": (_("Automated input"), _("Automated input on %(items)s of %(answers)s items")),
    "pasting": (_("Pasted text"), _("Pasted text into %(items)s of %(answers)s answers")),
    "leaving": (_("Left the page often"), _("Left the page during %(items)s of %(answers)s answers")),
}

RUN = _(
    "The same answer %(run)s times in a row (probability by chance, given the annotator's usual answers: %(chance).1g)"
)


@login_required
@require_GET
def behaviour(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the people flagged by signals, with their numbers and how often each signal flags good people."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    behaviour_request(campaign=campaign, now=timezone.now())
    snapshot = BehaviourSnapshot.objects.filter(campaign=campaign).first()
    context: dict[str, Any] = {"campaign": campaign, "snapshot": snapshot}
    if snapshot is not None:
        people = snapshot.data["people"]
        others = [row["signals"].get("twins", {}).get("other") for row in people]
        keys: list[UUID | None] = [UUID(key) for key in (*(row["surrogate"] for row in people), *others) if key]
        names = {str(key): name for key, name in names_of(keys).items()}
        context |= {
            "signals": [(SIGNALS[row["key"]][0], row["good"], row["bad"]) for row in snapshot.data["signals"]],
            "people": [(row, names[row["surrogate"]], _said(row["signals"], names)) for row in people],
        }
    return render(request, "quality/people/behaviour.html", context)


def _said(signals: dict[str, dict[str, Any]], names: dict[str, str]) -> list[str]:
    """Return the texts of a person's signals."""
    said = []
    for key, numbers in signals.items():
        other = numbers.get("other", "")
        shares = {name: f"{100 * numbers[name]:.0f}%" for name in ("ratio", "share", "usual") if name in numbers}
        filled: dict[str, Any] = numbers | shares | {"other": names.get(other, other)}
        said.append(SIGNALS[key][1] % filled)
        if "run" in numbers:
            said.append(RUN % filled)
    return said
