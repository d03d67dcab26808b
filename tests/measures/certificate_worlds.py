"""Audits of many made-up worlds at once."""

import numpy as np

from measures.certificates import is_reached, log_gain


def worlds(size, share, count, seed):
    """Return the order of judgment of many audits, each with this share of wrong labels, shape (audits, labels)."""
    labels = np.zeros((count, size), dtype=bool)
    labels[:, : round(size * share)] = True
    return np.random.default_rng(seed).permuted(labels, axis=1)


def first_certified(claim, wrong):
    """Return the judgment at which each audit is certified, shape (audits,); size + 1 if none is.

    ``wrong``: whether each label is wrong, in the order of judgment, shape (audits, labels).
    """
    before = np.cumsum(wrong, axis=1) - wrong
    capital = np.cumsum(log_gain(claim, np.arange(claim.size), before, wrong), axis=1)
    judged = np.arange(1, claim.size + 1)
    is_there = is_reached(claim, capital, judged, before + wrong)
    return np.where(is_there.any(axis=1), is_there.argmax(axis=1) + 1, claim.size + 1)
