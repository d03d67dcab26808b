"""The effects of a policy: who its gold test pauses, and how many gold keys a campaign of a given size needs."""

from functools import lru_cache
from typing import Any

from measures.drift import limit_for, run_length
from measures.gold_tests import GoldTest
from quality.gold.key_statistics import catches, checks_among, keys_needed
from quality.policies.policy import Policy

HIT_RATES = (0.95, 0.90, 0.85, 0.80, 0.70, 0.60, 0.50)
AFTER_CHECKS = (100, 300, 1_000)
WORKERS = (("clicker", 0.25), ("60", 0.60), ("70", 0.70))  # whose chances are shown, with their hit rates
MOST_ITEMS = 1_000  # of one person, that are looked at


@lru_cache(maxsize=32)
def paused_shares(test: GoldTest) -> list[tuple[float, list[float]]]:
    """Return for some true hit rates the shares of people who are paused after 100, 300 and 1,000 checks.

    Takes a fifth of a second for a test that this process hasn't computed before.
    """
    curves = [(rate, test.failure_curve(rate, max(AFTER_CHECKS))) for rate in HIT_RATES]
    return [(rate, [float(curve[checks]) for checks in AFTER_CHECKS]) for rate, curve in curves]


def drift_of(policy: Policy, checks: int) -> dict[str, Any] | None:
    """Return the expected effects of drift detection over a number of checks; None if it is off."""
    if not policy.drift_run_length:
        return None
    test = policy.gold_test
    limit = limit_for(test, policy.drift_run_length)
    return {
        "alarms": round(checks / run_length(test, limit, test.good), 1),
        "clicker": round(run_length(test, limit, 0.25)),
        "careless": round(run_length(test, limit, test.bad)),
        "bad": f"{test.bad:.0%}",
    }


def effects_of(policy: Policy, *, people: int, items_each: int) -> dict[str, Any]:
    """Return what a policy needs and achieves for a number of people, each with a number of items."""
    return {
        "checks": checks_among(items_each, policy),
        "keys": keys_needed(people=people, items_each=items_each, policy=policy),
        "exposures": people * checks_among(items_each, policy),
        "drift": drift_of(policy, people * checks_among(items_each, policy)),
        "caught": [
            (rate, catches(policy, hit_rate=rate, after=(items_each,), most_items=MOST_ITEMS)) for _, rate in WORKERS
        ],
    }
