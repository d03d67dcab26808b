"""Can a worker tell gold from ordinary items? ``python -m perf.statistics.gold_secrecy [EXPOSURES]``, by hand; see perf/README.md.

Each exposure is seen by one worker, who does all that may tell something: looks twice, lets the deadline pass, takes the
answer before back, has the next item reserved. A classifier is trained on everything that was seen but the texts
(place in the order, times, sizes, headers, ids, what came back) and judged on workers that it has not seen.
"""

import json
import os
import re
import sys
import time
import uuid
from datetime import timedelta

os.environ["QUORATE_DEBUG"] = "1"  # static files without collecting them

from perf.setup import start

start()

import numpy as np
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from annotation.slots.services.sweeps import assignments_expire
from quality.policies.policy import Policy
from tests import factories

EACH = 30  # items a worker; a third of them gold, anywhere among them
POLICY = Policy(gold_first=10, gold_first_items=EACH, gold_rate=0.05, gold_most_exposures=100_000)


def sent(client, address, **form):
    """Return a page as a worker's script gets it, and how long it took in milliseconds."""
    began = time.perf_counter()
    page = client.post(address, form, headers={"HX-Request": "true", "host": "localhost"})
    return page, (time.perf_counter() - began) * 1000


def held(person):
    return Assignment.objects.select_related("item__batch").get(surrogate=person.surrogate_id, state="live")


def answer(client, live):
    return sent(client, f"/assignments/{live.pk}/stage/", stage="relevance", version=str(live.draft_version), label="4")


def lapse(state):
    Assignment.objects.filter(state=state).update(deadline_at=timezone.now() - timedelta(seconds=1))
    assignments_expire(timezone.now())


def try_out(client, campaign, person, live, number):
    """Do everything that may make an item come back or not; return what was seen of it."""
    work, seen = f"/work/{campaign.slug}/", []
    lapse("live")
    page, took = sent(client, work)
    seen += [held(person).item_id == live.item_id, took, len(page.headers)]
    if number:
        sent(client, f"{work}undo/")
        page, took = answer(client, held(person))
        seen += [held(person).item_id == live.item_id, took, len(page.headers)]
    else:
        seen += [True, 0.0, 0]
    _, took = sent(client, f"{work}reserve/")
    return [*map(float, seen), took]


def worker_rows(campaign):
    """Return (features, is gold) of each exposure of one new worker."""
    person = factories.annotator(campaign, f"w{uuid.uuid4().hex[:8]}")
    client = Client()
    client.force_login(person)
    page, took = sent(client, f"/work/{campaign.slug}/")
    rows = []
    for number in range(EACH):
        live = held(person)
        size = len(page.content) - sum(len(str(text).encode()) for text in live.item.content.values())
        again, second = sent(client, f"/work/{campaign.slug}/")
        digits = int(re.sub(r"\D", "", str(live.pk.int))[-4:])
        features = [
            number,
            took,
            second,
            size,
            len(again.content) - len(page.content),
            digits,
            (live.deadline_at - live.claimed_at).total_seconds(),
        ]
        features += try_out(client, campaign, person, live, number)
        rows.append((features, live.item.batch.purpose == "gold"))
        page, took = answer(client, held(person))
        if not Assignment.objects.filter(surrogate=person.surrogate_id, state="live").exists():
            break
    return rows


def auc(scores, truth):
    """Return the area under the curve and its standard error (Hanley and McNeil 1982)."""
    good, bad = scores[truth], scores[~truth]
    ranks = np.argsort(np.argsort(np.concatenate([good, bad]), kind="stable"), kind="stable") + 1.0
    area = (ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad))
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (len(good) - 1) * (q1 - area**2) + (len(bad) - 1) * (q2 - area**2)
    return area, float(np.sqrt(max(variance, 0) / (len(good) * len(bad))))


def scores_of(features, truth, workers):
    """Return the scores of a logistic regression, each from workers that it was not trained on."""
    features = (features - features.mean(0)) / np.where(features.std(0) > 0, features.std(0), 1)
    features = np.clip(np.hstack([features, features**2]), -5, 25)
    features = np.hstack([features, np.ones((len(features), 1))])
    scores = np.zeros(len(truth))
    jitter = np.random.default_rng(1).normal(0, 1e-9, len(truth))  # equal scores are ordered by chance
    for fold in range(5):
        test = workers % 5 == fold
        weights = np.zeros(features.shape[1])
        for _ in range(2000):
            wrong = 1 / (1 + np.exp(-features[~test] @ weights)) - truth[~test]
            weights -= 0.1 * (features[~test].T @ wrong / (~test).sum() + 1e-3 * weights)
        scores[test] = features[test] @ weights
    return scores + jitter


def main(exposures):
    campaign = factories.antique(items=3 * EACH, n=80, gold=60, policy=POLICY, deadline_seconds=1800)
    rows, workers = [], []
    while len(rows) < exposures:
        made = worker_rows(campaign)
        workers += [len(set(workers))] * len(made)
        rows += made
    features, truth = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    area, error = auc(scores_of(features, truth, np.array(workers)), truth)
    print(
        json.dumps(
            {
                "exposures": len(rows),
                "workers": len(set(workers)),
                "gold": int(truth.sum()),
                "auc": round(float(area), 3),
                "upper_95": round(float(area + 1.96 * error), 3),
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
