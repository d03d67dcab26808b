"""Gold keys, as shown to managers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.models import Campaign
from quality.gold.key_statistics import doubtful_keys
from quality.models import CaseReason, CaseState, GoldCheck, GoldKey, GoldKeyState, Opinion, Phase
from quality.policies.effects import paused_shares
from quality.policies.policy import Policy

PAGE_SIZE = 50
FEW_NEWCOMERS = 20  # for fewer than these, gold questions run short


@dataclass(frozen=True, slots=True)
class KeysPage:
    """A page of gold keys in order, with their checks and misses, and the key after which the next page starts."""

    keys: Sequence[GoldKey]
    after: int | None


def checks_held(campaign: Campaign) -> QuerySet[GoldCheck]:
    """Return the checks that count for or against annotators: those of keys that were right."""
    return GoldCheck.objects.filter(campaign=campaign, is_void=False)


def experts_on_key() -> dict[str, Subquery]:
    """Return columns for a query of gold keys: the experts' latest decision about the key's item, and its reason."""
    decided = Opinion.objects.filter(
        Q(case__experts=1) | Q(phase=Phase.CONSENSUS),
        case__item=OuterRef("item"),
        case__because=CaseReason.GOLD,
        case__state=CaseState.DECIDED,
    ).order_by("-pk")
    return {
        "experts_said": Subquery(decided.values("said")[:1]),
        "experts_reason": Subquery(decided.values("justification")[:1]),
    }


def keys_page(*, campaign: Campaign, state: str, after: int) -> KeysPage:
    """Return the page of gold keys after a key; each has ``checked`` and ``missed``."""
    keys = GoldKey.objects.filter(campaign=campaign, pk__gt=after).select_related("item")
    if state in GoldKeyState.values:
        keys = keys.filter(state=state)
    real = Q(checks__is_void=False)
    counted = keys.annotate(
        checked=Count("checks", filter=real), missed=Count("checks", filter=real & Q(checks__is_hit=False))
    )
    rows = list(counted.order_by("pk")[: PAGE_SIZE + 1])
    return KeysPage(rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None)


def gold_of(campaign: Campaign, policy: Policy) -> dict[str, Any]:
    """Return the number of gold keys in each state, the remaining exposures, and the keys that may be wrong.

    The cost grows with the number of checks: use it in jobs and commands, not in pages.
    """
    keys = GoldKey.objects.filter(campaign=campaign)
    states = dict(keys.values_list("state").annotate(n=Count("pk")).order_by("state"))
    used = keys.filter(state=GoldKeyState.ACTIVE, exposures__lt=policy.gold_most_exposures)
    spent = used.aggregate(n=Count("pk"), spent=Sum(F("exposures")))
    checks = checks_held(campaign).filter(key__state=GoldKeyState.ACTIVE)
    doubts = doubtful_keys(
        checks.order_by("pk").values_list("key_id", "surrogate_id", "is_hit"), good=policy.gold_test.good
    )
    left = spent["n"] * policy.gold_most_exposures - (spent["spent"] or 0)
    return {
        "states": {state.value: states.get(state.value, 0) for state in GoldKeyState},
        "left": left,
        "paused": paused_shares(policy.gold_test),
        # Who is new needs the first ones; a key that is used up stays used up.
        "newcomers_left": left // max(1, policy.gold_first),
        "doubtful": [{"key": doubt.key, "misses": doubt.misses, "people": doubt.people} for doubt in doubts[:50]],
    }
