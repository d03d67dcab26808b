"""A forecast of a campaign's end, if work continues at its recent pace."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WINDOW = 14  # days that are taken as typical
RUNS = 1_000
MOST_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class Forecast:
    """Days until the remaining work is done: the median, and the bounds of an 80% prediction interval."""

    days: int
    low: int
    high: int


def forecast(daily: Sequence[int], left: int, seed: int = 0) -> Forecast | None:
    """Return when ``left`` annotations will be done; None if there is too little data.

    Future days are drawn from the last 14, including idle ones. The forecast suits steady work: it doesn't account for
    weekends, people hired tomorrow or a batch that isn't launched.

    Parameters
    ----------
    daily
        Annotations per day in order, without gaps. At least three days are needed, one of them with work.
    left
        Annotations that are still wanted.

    Examples
    --------
    >>> forecast([100] * 5, 450)
    Forecast(days=5, low=5, high=5)
    >>> forecast([100], 450) is None
    True
    """
    typical = np.array(daily[-WINDOW:])
    if left <= 0 or len(typical) < 3 or typical.sum() * MOST_DAYS < left * len(typical):
        return None
    chance = np.random.default_rng(seed)
    steps = max(1, int(np.ceil(2 * left / typical.mean())))
    done = chance.choice(typical, size=(RUNS, steps)).cumsum(axis=1)
    while done[:, -1].min() < left:
        done = np.hstack([done, done[:, -1:] + chance.choice(typical, size=(RUNS, steps)).cumsum(axis=1)])
    days = (done < left).sum(axis=1) + 1
    low, middle, high = np.quantile(days, [0.1, 0.5, 0.9], method="closest_observation").astype(int)
    return Forecast(int(middle), int(low), int(high))
