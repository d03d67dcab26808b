"""Statistics on gold keys: which may be wrong, judged by annotators' answers, and how many a campaign needs."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import ceil, comb

from quality.policies.policy import Policy

LEAST_CHECKS = 5  # of other keys, before a person says something about a key
LEAST_PEOPLE = 3
DOUBT = 0.01  # the highest probability that reliable people miss a right key this often by chance


@dataclass(frozen=True, slots=True)
class Doubt:
    """A gold key missed by ``misses`` of ``people`` reliable annotators, and the probability of that if it is right."""

    key: Hashable
    misses: int
    people: int
    probability: float


def doubtful_keys(checks: Iterable[tuple[Hashable, Hashable, bool]], *, good: float) -> list[Doubt]:
    """Return the gold keys that reliable annotators miss too often, most doubtful first.

    Parameters
    ----------
    checks
        Gold key, person, and whether the check was a hit.
    good
        The hit rate of a reliable annotator, who reaches it on at least `LEAST_CHECKS` other gold keys.

    Notes
    -----
    In real crowds, 5 to 14 of 100 items with agreement are wrong; a wrong gold key punishes annotators who are right.

    Examples
    --------
    >>> rows = [(key, person, key != "k0") for key in ("k0", "k1", "k2", "k3", "k4", "k5") for person in "abcd"]
    >>> [(doubt.key, doubt.misses, doubt.people) for doubt in doubtful_keys(rows, good=0.9)]
    [('k0', 4, 4)]
    """
    rows = list(checks)
    taken: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for _, person, is_hit in rows:
        taken[person][0] += is_hit
        taken[person][1] += 1
    by_key: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for key, person, is_hit in rows:
        hits, of = taken[person][0] - is_hit, taken[person][1] - 1
        if of >= LEAST_CHECKS and hits >= good * of:
            by_key[key][0] += not is_hit
            by_key[key][1] += 1
    doubts = [Doubt(key, misses, of, _at_least(misses, of, 1 - good)) for key, (misses, of) in by_key.items()]
    found = [doubt for doubt in doubts if doubt.people >= LEAST_PEOPLE and doubt.probability < DOUBT]
    return sorted(found, key=lambda doubt: (doubt.probability, str(doubt.key)))


def _at_least(successes: int, of: int, rate: float) -> float:
    return sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(successes, of + 1))


def checks_among(items: int, policy: Policy) -> int:
    """Return the number of gold checks among a person's first ``items`` items."""
    first = min(items, policy.gold_first_items)
    early = policy.gold_first * first / policy.gold_first_items if policy.gold_first_items else 0
    return round(early + max(0, items - policy.gold_first_items) * policy.gold_rate)


def keys_needed(*, people: int, items_each: int, policy: Policy) -> int:
    """Return the number of gold keys for a campaign, so that no one meets one twice and none is overused."""
    checks = checks_among(items_each, policy)
    return max(checks, ceil(people * checks / policy.gold_most_exposures))


@dataclass(frozen=True, slots=True)
class Catch:
    """The detection of annotators with a given hit rate.

    ``items``: the number of items after which half of such annotators are paused; None if it exceeds the search limit.
    ``paused``: the share of paused annotators after some numbers of items.
    """

    hit_rate: float
    items: int | None
    paused: dict[int, float]


def catches(policy: Policy, *, hit_rate: float, after: tuple[int, ...], most_items: int = 2_000) -> Catch:
    """Return when annotators with this hit rate are paused; exact, from the distribution of the sequential test."""
    failed = policy.gold_test.failure_curve(hit_rate, checks_among(max(most_items, *after), policy))
    half = next((items for items in range(most_items + 1) if failed[checks_among(items, policy)] >= 0.5), None)
    return Catch(hit_rate, half, {items: float(failed[checks_among(items, policy)]) for items in after})
