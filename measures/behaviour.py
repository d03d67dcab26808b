"""Behavioral signals that suggest whose work to check first. Never a reason to refuse pay or suspend on their own.

Time alone is a weak signal, and its direction differs between crowds: fast people may be good. Each signal therefore
comes with the share of people with good gold checks whom it flags.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from measures.judgments import Floats, Judgments, Places
from measures.reliability import peer_agreement, wilson

Who = TypeVar("Who", bound=Hashable)
LEAST = 20  # answers before anything is said of a person
LEAST_SHARED = 10  # items that two people both answered before they are compared
SHRINK = 2.0  # how many others an item's own time has to outweigh
FAST, FAR = 0.5, -3.0  # at most half of the time that others take, and that far from them (robust z)
ONE_ANSWER = 0.7  # the share of one answer from which on it is looked at
LONG_RUN, RARE_RUN = 8, 1e-4
RARE_PAIR = 1e-3  # for all pairs together
LEAST_UNTRUSTED, UNTRUSTED_SHARE = 3, 0.05
LEAST_PASTED, PASTED_SHARE, LEFT_SHARE = 3, 0.5, 0.5
GOOD, BAD, LEAST_CHECKS = 0.85, 0.6, 10  # who is known by gold
NORMAL = 1.4826  # a standard deviation in median absolute deviations of normal values


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal about one person: whether it is striking, and the numbers behind it, for people to read."""

    is_striking: bool
    numbers: Mapping[str, Any]


def pace(item: Places, annotator: Places, seconds: Floats, length: Floats) -> dict[int, Signal]:
    """Return each annotator's speed relative to others on the same items, by the annotator's number.

    The log of the seconds, minus the effect of the item's length (least squares), minus the mean of the item's other
    annotators (shrunk towards 0 if there are few). A person's median over answers is compared with everybody's. The
    robust z is that of B. Iglewicz and D. C. Hoaglin (1993), How to detect and handle outliers.

    Parameters
    ----------
    item, annotator, seconds, length
        One value per answer, shape (answers,). Length: any measure that grows with the amount to read in the item.
    """
    if not len(item):
        return {}
    times = np.log(np.maximum(seconds, 0.1))
    design = np.column_stack([np.ones(len(times)), np.log1p(length)])
    left = times - design @ np.linalg.lstsq(design, times, rcond=None)[0]
    sums, sizes = np.bincount(item, weights=left), np.bincount(item)
    left -= (sums[item] - left) / (sizes[item] - 1 + SHRINK)
    medians = {person: float(np.median(left[places])) for person, places in _by_person(annotator)}
    far = _robust_z(medians)
    middle = float(np.median(list(medians.values()))) if medians else 0.0
    answers = np.bincount(annotator)
    return {
        person: Signal(
            bool(far[person] < FAR and np.exp(value - middle) < FAST),
            {"ratio": round(float(np.exp(value - middle)), 2), "answers": int(answers[person])},
        )
        for person, value in medians.items()
    }


def sameness(rows: Iterable[tuple[Hashable, Who, Hashable]]) -> dict[Who, Signal]:
    """Return the uniformity of each annotator's answers: low entropy, or a run that the items don't explain.

    The probability of a run is the probability that any run of that length occurs among as many independent answers
    (Poisson approximation; W. Feller, 1968, An introduction to probability theory, volume 1, XIII.7). An answer that the
    item's other annotators gave most often is certain: in files that are sorted by label, good people give long runs.
    Another answer is as likely as among those others, or as its share of the annotator's answers if that is more.

    Parameters
    ----------
    rows
        (item, annotator, answer), in the order given.
    """
    given: dict[Who, list[tuple[Hashable, Hashable]]] = defaultdict(list)
    last: dict[tuple[Hashable, Who], Hashable] = {}  # one answer of a person to an item
    for item, who, value in rows:
        given[who].append((item, value))
        last[item, who] = value
    by_item: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for (item, _who), value in last.items():
        by_item[item][value] += 1
    known = {person: [value for _item, value in pairs] for person, pairs in given.items() if len(pairs) >= LEAST}
    bits = {person: _entropy(row) for person, row in known.items()}
    far = _robust_z(bits)
    found = {}
    for person, row in known.items():
        own = {item: last[item, person] for item, _value in given[person]}
        run, chance = _longest_run(given[person], own, by_item)
        top = max(row.count(value) for value in set(row)) / len(row)
        is_one = far[person] < FAR and top >= ONE_ANSWER
        is_run = run >= LONG_RUN and chance < RARE_RUN
        numbers = {"share": round(top, 2), "answers": len(row)} | ({"run": run, "chance": chance} if is_run else {})
        found[person] = Signal(is_one or is_run, numbers)
    return found


def twins(judgments: Judgments) -> dict[Any, Signal]:
    """Return, by annotator, whether another annotator's answers are equal far more often than their usual agreement.

    For two people who share at least ten items: the probability of as many equal answers if they agreed with each other
    at the higher of their agreement rates with everybody. Striking below 0.001, corrected for all pairs together.
    """
    from scipy.sparse import csr_array  # type: ignore[import-untyped]  # noqa: PLC0415  seldom wanted
    from scipy.stats import binom  # type: ignore[import-untyped]  # noqa: PLC0415

    people, labels = len(judgments.annotators), max(1, len(judgments.labels))
    shape = (people, len(judgments.items) * labels)
    ones = np.ones(len(judgments))
    said = csr_array((ones, (judgments.annotator, judgments.item * labels + judgments.label)), shape=shape)
    did = csr_array((ones, (judgments.annotator, judgments.item)), shape=(people, len(judgments.items)))
    shared = (did @ did.T).tocoo()
    keep = (shared.row < shared.col) & (shared.data >= LEAST_SHARED)
    first, second, both = shared.row[keep], shared.col[keep], shared.data[keep]
    if not len(first):
        return {}
    same = np.asarray((said @ said.T).tocsr()[first, second]).reshape(-1)
    usual = np.nan_to_num(peer_agreement(judgments).rate, nan=0.5)
    chance = binom.sf(same - 1, both, np.clip(np.maximum(usual[first], usual[second]), 0.01, 0.99)) * len(first)
    found: dict[Any, Signal] = {}
    for place in np.argsort(-chance):  # the least likely pair of a person is written last
        for person, other in ((first[place], second[place]), (second[place], first[place])):
            numbers = {
                "other": judgments.annotators[int(other)],
                "same": int(same[place]),
                "shared": int(both[place]),
                "usual": round(float(usual[person]), 2),
            }
            found[judgments.annotators[int(person)]] = Signal(bool(chance[place] < RARE_PAIR), numbers)
    return found


def untrusted(events: Mapping[Who, tuple[int, int]]) -> dict[Who, Signal]:
    """Return, by person, the number of items with page input that didn't come from a device, such as scripted events.

    Parameters
    ----------
    events
        By person: (items with such input, items).
    """
    return {
        person: Signal(
            items >= LEAST_UNTRUSTED and items / max(1, of) > UNTRUSTED_SHARE, {"items": items, "answers": of}
        )
        for person, (items, of) in events.items()
        if items
    }


def pasting(events: Mapping[Who, tuple[int, int]]) -> dict[Who, Signal]:
    """Return who pasted text into many answers: at least half of their answers, and at least three.

    Parameters
    ----------
    events
        By person: (answers into which text was pasted, answers).
    """
    return {
        person: Signal(items >= LEAST_PASTED and items / max(1, of) >= PASTED_SHARE, {"items": items, "answers": of})
        for person, (items, of) in events.items()
        if items
    }


def leaving(events: Mapping[Who, tuple[int, int]]) -> dict[Who, Signal]:
    """Return who left the page during many answers: at least half of them, and far more often than others.

    Parameters
    ----------
    events
        By person: (answers during which the page was left, answers).
    """
    known = {person: (items, of) for person, (items, of) in events.items() if of >= LEAST}
    far = _robust_z({person: items / of for person, (items, of) in known.items()})
    return {
        person: Signal(far[person] > -FAR and items / of >= LEFT_SHARE, {"items": items, "answers": of})
        for person, (items, of) in known.items()
        if items
    }


def known_by_gold(checks: Iterable[tuple[Who, int, int]]) -> dict[Who, bool]:
    """Return the people known to be good (True) or bad, from (person, checks, hits) with at least ten checks each."""
    return {
        person: hits / of >= GOOD
        for person, of, hits in checks
        if of >= LEAST_CHECKS and (hits / of >= GOOD or hits / of <= BAD)
    }


def pointed_at(signals: Mapping[Who, Signal], known: Mapping[Who, bool]) -> dict[str, dict[str, float | int | None]]:
    """Return how many of the people known to be good, and of those known to be bad, a signal flags (Wilson's 95%)."""
    found: dict[str, dict[str, float | int | None]] = {}
    for name, wanted in (("good", True), ("bad", False)):
        people = [person for person, is_good in known.items() if is_good is wanted]
        n = sum(person in signals and signals[person].is_striking for person in people)
        of = np.array([len(people)])
        rate = np.divide(n, of, out=np.full(1, np.nan), where=of > 0)
        low, high = wilson(rate, of)
        bounds = (float(low[0]), float(high[0])) if people else (None, None)
        found[name] = {"n": n, "of": len(people), "low": bounds[0], "high": bounds[1]}
    return found


def _by_person(annotator: Places) -> Iterable[tuple[int, Places]]:
    """Yield each annotator with enough answers, and the positions of their answers."""
    order = np.argsort(annotator, kind="stable")
    cuts = np.flatnonzero(np.diff(annotator[order])) + 1
    for places in np.split(order, cuts):
        if len(places) >= LEAST:
            yield int(annotator[places[0]]), places


def _robust_z(values: Mapping[Who, float]) -> dict[Who, float]:
    """Return each value's distance from the median in robust standard deviations; 0 with fewer than ten people."""
    if len(values) < 10:
        return dict.fromkeys(values, 0.0)
    row = np.array(list(values.values()))
    middle = np.median(row)
    spread = max(NORMAL * float(np.median(np.abs(row - middle))), 0.05)
    return {person: float((value - middle) / spread) for person, value in values.items()}


def _entropy(row: Sequence[Hashable]) -> float:
    shares = np.array([row.count(value) for value in set(row)]) / len(row)
    return float(-(shares * np.log2(shares)).sum())


def _longest_run(
    pairs: Sequence[tuple[Hashable, Hashable]],
    own: Mapping[Hashable, Hashable],
    by_item: Mapping[Hashable, Counter[Hashable]],
) -> tuple[int, float]:
    """Return the length of the least likely long run of equal answers, and the probability of a run of that length."""
    shares = Counter(value for _item, value in pairs)
    found = (1.0, 0)
    for value, run in groupby(pairs, key=itemgetter(1)):
        items, share = [item for item, _value in run], shares[value] / len(pairs)
        if len(items) < LONG_RUN:
            continue
        runs = (len(pairs) - len(items)) * (1 - share) + 1
        likely = float(np.prod([_likely(value, by_item[item], own[item], share) for item in items]))
        found = min(found, (float(-np.expm1(-runs * likely)), len(items)))
    return found[1], found[0]


def _likely(value: Hashable, said: Counter[Hashable], own: Hashable, share: float) -> float:
    """Return how likely an answer is, given everybody's answers to its item, the person's own one, and its usual share."""
    others = {one: n - (one == own) for one, n in said.items()}
    most = max(others.values())
    if most and others.get(value, 0) == most:
        return 1.0
    return max(share, others.get(value, 0) / max(sum(others.values()), 1))
