"""A report on a crowd from its judgments alone: agreement, labels, annotators, items."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from measures.aggregation import Votes, entropy, majority, wawa
from measures.agreement import Level, alpha, coincidences
from measures.comparison import foresight
from measures.judgments import Floats, Judgments
from measures.kappas import Weights, fleiss_kappa, gwet_ac
from measures.label_models import DawidSkene, dawid_skene
from measures.reliability import Rates, hit_rate, peer_agreement

if TYPE_CHECKING:
    import pandas as pd

Seconds = Mapping[Any, float]  # the median time of each annotator


def crowd_report(
    judgments: Judgments,
    *,
    level: Level = Level.NOMINAL,
    truth: Mapping[Any, Any] | None = None,
    seconds: Seconds | None = None,
) -> dict[str, Any]:
    """Return the report that `manage.py crowd_report` prints, as JSON.

    Accuracies are over items with a known truth; tied labels count fractionally. If the vote and the model differ,
    ``foresight`` shows which of the two better predicts held-out judgments.

    Parameters
    ----------
    truth
        The true label of some items, by item.
    seconds
        The median time of each annotator.

    Raises
    ------
    TooManyLabels

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> crowd = judgments_of([(n, who, n % 2) for n in range(4) for who in ("ann", "bo")])
    >>> report = crowd_report(crowd, truth={0: 0, 1: 0})
    >>> report["alpha"], report["majority"]["accuracy"]
    (1.0, 0.5)
    """
    judgments.check_size()
    truth = truth or {}
    found, model = alpha(judgments, level=level), dawid_skene(judgments)
    plain, (weighted, weight) = majority(judgments), wawa(judgments)
    counts, seen = judgments.counts(), foresight(judgments)
    known = [item for item in judgments.items if item in truth]
    right = _accuracy(judgments, truth)
    return {
        "items": len(judgments.items),
        "annotators": len(judgments.annotators),
        "judgments": len(judgments),
        "repeated": judgments.repeated,
        "labels": list(judgments.labels),
        "level": level.value,
        "truths": len(known),
        "alpha": found.alpha,
        "alpha_low": found.low,
        "alpha_high": found.high,
        "alpha_units": found.units,
        "alpha_why": found.why,
        "alpha_warning": found.warning,
        "percent_agreement": found.observed,
        "fleiss_kappa": fleiss_kappa(counts),
        "gwet_ac1": gwet_ac(counts),
        "gwet_ac2": None if level is Level.NOMINAL else gwet_ac(counts, Weights.QUADRATIC),
        "majority": {"accuracy": right(plain.wins.astype(float)), "tied": int(plain.tied.sum())},
        "wawa": {"accuracy": right(weighted.wins.astype(float)), "tied": int(weighted.tied.sum())},
        "dawid_skene": {
            "accuracy": right(_chosen(model)),
            "converged": model.converged,
            "rounds": model.rounds,
            "log_likelihood": model.log_likelihood,
            "prior": model.prior.tolist(),
        },
        "foresight": {
            "vote": seen.vote,
            "model": seen.model,
            "spread": seen.spread,
            "held_out": seen.held_out,
            "prefers_model": seen.prefers_model,
            "is_clear": seen.is_clear,
        },
        "coincidences": coincidences(judgments).round(3).tolist(),
        "annotator_table": _annotators(judgments, model, weight, truth, seconds or {}),
        "item_table": _items(judgments, model, plain, truth),
    }


def report_frames(found: Mapping[str, Any]) -> dict[str, "pd.DataFrame"]:
    """Return a report's tables: ``annotators``, ``items``, ``coincidences`` (counts of label pairs, a row per pair).

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> rows = [("a", "ann", "no"), ("a", "bo", "no"), ("b", "ann", "yes"), ("b", "bo", "no")]
    >>> frames = report_frames(crowd_report(judgments_of(rows)))
    >>> frames["coincidences"].values.tolist()
    [['no', 'no', 2.0], ['no', 'yes', 1.0], ['yes', 'no', 1.0], ['yes', 'yes', 0.0]]
    """
    import pandas as pd  # noqa: PLC0415  half a second that a printed report does not need

    items = pd.DataFrame(found["item_table"])
    if "tied" in items.columns:
        items["tied"] = items["tied"].map(lambda labels: " ".join(map(str, labels)))
    pairs = [
        (first, second, found["coincidences"][row][column])
        for row, first in enumerate(found["labels"])
        for column, second in enumerate(found["labels"])
    ]
    return {
        "annotators": pd.DataFrame(found["annotator_table"]),
        "items": items,
        "coincidences": pd.DataFrame(pairs, columns=["label", "other", "weight"]),
    }


def _chosen(model: DawidSkene) -> Floats:
    best: Floats = (model.posterior == model.posterior.max(axis=1, keepdims=True)).astype(np.float64)
    return best


def _accuracy(judgments: Judgments, truth: Mapping[Any, Any]) -> Callable[[Floats], float | None]:
    """Return a function for the share of known items whose winners (items, labels) are right; ties count in part."""
    rows = np.array([row for row, item in enumerate(judgments.items) if item in truth], dtype=np.int64)
    places = {label: place for place, label in enumerate(judgments.labels)}
    columns = np.array([places.get(truth[judgments.items[row]], -1) for row in rows], dtype=np.int64)

    def share(wins: Floats) -> float | None:
        if not len(rows):
            return None
        named = np.where(columns >= 0, wins[rows, columns], 0.0)  # nobody may have given the label that is right
        return float((named / np.maximum(wins[rows].sum(axis=1), 1)).mean())

    return share


def _annotators(
    judgments: Judgments, model: DawidSkene, weight: Floats, truth: Mapping[Any, Any], seconds: Seconds
) -> list[dict[str, Any]]:
    """Return a row for each annotator."""
    done = np.bincount(judgments.annotator, minlength=len(judgments.annotators))
    peers, hits = peer_agreement(judgments), hit_rate(judgments, dict(truth))
    accuracy = model.accuracy()
    return [
        {
            "annotator": name,
            "judgments": int(done[row]),
            **_rate("peers", peers, row),
            **_rate("truth", hits, row),
            "model_accuracy": float(accuracy[row]),
            "wawa": float(weight[row]),
            "median_seconds": seconds.get(name),
        }
        for row, name in enumerate(judgments.annotators)
    ]


def _rate(name: str, rates: Rates, row: int) -> dict[str, float | int | None]:
    of = int(rates.of[row])
    bounds = {name: rates.rate, f"{name}_low": rates.low, f"{name}_high": rates.high}
    return {key: float(values[row]) if of else None for key, values in bounds.items()} | {f"{name}_of": of}


def _items(judgments: Judgments, model: DawidSkene, plain: Votes, truth: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Return a row for each item; entropies are in bits, 0 if there is no doubt."""
    names = judgments.labels
    first, tied = plain.wins.argmax(axis=1).tolist(), plain.tied.tolist()
    columns = zip(
        judgments.items,
        plain.scores.sum(axis=1).astype(int).tolist(),
        entropy(plain.shares()).tolist(),
        model.posterior.argmax(axis=1).tolist(),
        model.posterior.max(axis=1).tolist(),
        entropy(model.posterior).tolist(),
        strict=True,
    )
    return [
        {
            "item": item,
            "votes": votes,
            "majority": None if tied[row] else names[first[row]],
            "tied": [names[place] for place in np.flatnonzero(plain.wins[row])] if tied[row] else [],
            "vote_entropy": split,
            "dawid_skene": names[best],
            "posterior": sure,
            "posterior_entropy": doubt,
            "truth": truth.get(item),
        }
        for row, (item, votes, split, best, sure, doubt) in enumerate(columns)
    ]
