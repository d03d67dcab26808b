"""A choice between the vote's labels and the model's: the one that better predicts judgments it hasn't seen."""

from dataclasses import dataclass

import numpy as np

from measures.aggregation import majority
from measures.judgments import Floats, Judgments
from measures.label_models import dawid_skene

SPLITS = 10
CLEAR = 2.0  # standard deviations over the splits


@dataclass(frozen=True, slots=True)
class Foresight:
    """How well the vote and the model predict held-out judgments, over several random splits.

    Attributes
    ----------
    vote, model
        The mean log-likelihood of held-out judgments; the larger value means better predictions. For ``vote``, all
        annotators make the same errors, and an item's label is as likely as its share of votes. For ``model``, each
        annotator has their own errors (Dawid and Skene). Both are None if nothing could be held out.
    spread
        The standard deviation of the difference between both over the splits.
    held_out
        The number of judgments held out, in all splits together.
    """

    vote: float | None
    model: float | None
    spread: float | None
    held_out: int

    @property
    def prefers_model(self) -> bool:
        """Whether the model predicts better than the vote."""
        return self.model is not None and self.vote is not None and self.model > self.vote

    @property
    def is_clear(self) -> bool:
        """Whether one of both predicts better in nearly every split."""
        known = self.model is not None and self.vote is not None and self.spread is not None
        return known and abs(self.model - self.vote) > CLEAR * self.spread  # type: ignore[operator]


def foresight(judgments: Judgments, *, share: float = 0.1, splits: int = SPLITS, smoothing: float = 0.01) -> Foresight:
    """Hold out a share of the judgments, learn from the others, and return how well the held-out ones were predicted.

    A judgment is only held out if its item and its annotator have other judgments left. On small crowds, a single split
    often prefers the other one of both, so several are drawn.

    Parameters
    ----------
    share
        The share of judgments to hold out in each split.
    splits
        The number of splits, seeded from 0 on.
    smoothing
        As in `dawid_skene`.

    Examples
    --------
    Two annotators are careful and a third always says "no":

    >>> from measures.judgments import judgments_of
    >>> rows = [(n, who, "yes" if n % 2 else "no") for n in range(40) for who in ("ann", "bo")]
    >>> crowd = judgments_of(rows + [(n, "no-sayer", "no") for n in range(40)])
    >>> foresight(crowd).prefers_model
    True
    """
    found = [_foreseen(judgments, share, seed, smoothing) for seed in range(splits)]
    told = np.array([(vote, model, held) for vote, model, held in found if held])
    if not len(told):
        return Foresight(None, None, None, 0)
    spread = float((told[:, 1] - told[:, 0]).std(ddof=1)) if len(told) > 1 else None
    return Foresight(float(told[:, 0].mean()), float(told[:, 1].mean()), spread, int(told[:, 2].sum()))


def _foreseen(judgments: Judgments, share: float, seed: int, smoothing: float) -> tuple[float, float, int]:
    """Return the mean log-likelihoods by the vote and by the model in one split, and the number held out."""
    drawn = np.random.default_rng(seed).random(len(judgments)) < share
    left = judgments.part(~drawn)
    has_item = np.bincount(left.item, minlength=len(judgments.items)) > 0
    has_annotator = np.bincount(left.annotator, minlength=len(judgments.annotators)) > 0
    held = judgments.part(drawn & has_item[judgments.item] & has_annotator[judgments.annotator])
    if not len(held):
        return 0.0, 0.0, 0
    model = dawid_skene(left, smoothing=smoothing)
    by_model = np.einsum(
        "jk,jk->j", model.posterior[held.item], model.confusion[held.annotator, :, held.label]
    )  # what they would say, over all that may be true
    return _mean_log(_by_vote(left, held, smoothing)), _mean_log(by_model), len(held)


def _by_vote(left: Judgments, held: Judgments, smoothing: float) -> Floats:
    shares = majority(left).shares()
    shares = (shares + smoothing) / (shares + smoothing).sum(axis=1, keepdims=True)
    labels = len(left.labels)
    confusion = np.full((labels, labels), smoothing)
    for label in range(labels):
        confusion[:, label] += shares[left.item[left.label == label]].sum(axis=0)
    confusion /= confusion.sum(axis=1, keepdims=True)
    foreseen: Floats = (shares[held.item] * confusion[:, held.label].T).sum(axis=1)
    return foreseen


def _mean_log(likelihood: Floats) -> float:
    return float(np.log(np.maximum(likelihood, 1e-12)).mean())
