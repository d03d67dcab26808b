"""When a campaign ends, if work goes on as it went lately."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WINDOW = 14  # days that are taken as typical
RUNS = 1_000
MOST_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class Forecast:
    """In how many days what is left will be done: the median, and the bounds of 80% of what may come."""

    days: int
    low: int
    high: int


def forecast(daily: Sequence[int], left: int, seed: int = 0) -> Forecast | None:
    """Return when ``left`` annotations will be done; None where too little is known to say.

    Days to come are drawn from the last 14, idle ones among them. Good for work that goes on alike: it knows nothing of
    weekends, of who is hired tomorrow or of a batch that is not launched.

    Parameters
    ----------
    daily
        Annotations of each day in order, without gaps. At least three days are needed, one of them with work.
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
