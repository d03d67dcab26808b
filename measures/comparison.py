"""A choice between the vote's labels and the model's: the one that better predicts judgments it hasn't seen."""

from dataclasses import dataclass

import numpy as np

from measures.aggregation import majority
from measures.judgments import Floats, Judgments
from measures.label_models import dawid_skene


@dataclass(frozen=True, slots=True)
class Foresight:
    """The mean log-likelihood of held-out judgments; the larger value means better predictions.

    ``vote``: all annotators make the same errors, and an item's label is as likely as its share of votes. ``model``:
    each annotator has their own errors (Dawid and Skene). Both are None if nothing could be held out.
    """

    vote: float | None
    model: float | None
    held_out: int

    @property
    def prefers_model(self) -> bool:
        """Whether the model predicts better than the vote."""
        return self.model is not None and self.vote is not None and self.model > self.vote


def foresight(judgments: Judgments, *, share: float = 0.1, seed: int = 0, smoothing: float = 0.01) -> Foresight:
    """Hold out a share of the judgments, learn from the others, and return how well the held-out ones were predicted.

    A judgment is only held out if its item and its annotator have other judgments left.

    Parameters
    ----------
    share
        The share of judgments to hold out, drawn by `seed`.
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
    drawn = np.random.default_rng(seed).random(len(judgments)) < share
    left = judgments.part(~drawn)
    has_item = np.bincount(left.item, minlength=len(judgments.items)) > 0
    has_annotator = np.bincount(left.annotator, minlength=len(judgments.annotators)) > 0
    held = judgments.part(drawn & has_item[judgments.item] & has_annotator[judgments.annotator])
    if not len(held):
        return Foresight(None, None, 0)
    model = dawid_skene(left, smoothing=smoothing)
    by_model = np.einsum(
        "jk,jk->j", model.posterior[held.item], model.confusion[held.annotator, :, held.label]
    )  # what they would say, over all that may be true
    return Foresight(_mean_log(_by_vote(left, held, smoothing)), _mean_log(by_model), len(held))


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
