"""The progress of a campaign towards its acceptable share of wrong labels, and its next purchase of votes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from annotation.models import (
    FILLING,
    ORDINARY,
    Annotation,
    AnnotationState,
    Batch,
    BatchState,
    Campaign,
    Item,
    ItemState,
    Slot,
    SlotState,
)
from annotation.slots.selectors.rounds import slots_waiting
from measures.judgments import Floats, Judgments, Places
from measures.targets import Belief, Calibration, Purchase, Sample, Target, belief_of, forecast, next_purchase
from quality.dashboard.selectors.summary import NOBODYS
from quality.labels.selectors.audits import audits_of, judged_in
from quality.labels.selectors.votes import votes_in
from quality.models import PENDING, Audit, Case, Rule, TargetSnapshot, Verdict, Wave
from workforces.selectors import answer_cents

MOST_POINTS = 200  # of a forecast that are kept
STRAGGLERS = 0.1  # of a wave's votes may still be to come when the next one begins


@dataclass(frozen=True)
class Outlook:
    """The facts on which the next wave is decided.

    Attributes
    ----------
    items
        The items whose batch has its first votes.
    belief
        The probabilities of the labels, by item.
    votes, is_free
        By item: the number of votes; whether neither votes nor experts are pending.
    is_experts
        By item: whether its label is an expert's opinion.
    calibration, audit
        The correction of the present doubts by the first finished audit, and that audit; without one, the model isn't
        corrected.
    spent_cents, vote_cents
        The cost so far of experts and of votes beyond the first ones; the cost of one more vote.
    is_waiting, is_filled
        Whether bought votes are still missing; whether nearly all of them are there.
    """

    items: list[int]
    belief: Belief
    votes: Places
    is_free: NDArray[np.bool_]
    is_experts: NDArray[np.bool_]
    calibration: Calibration
    audit: Audit | None
    spent_cents: int
    vote_cents: float
    is_waiting: bool
    is_filled: bool

    def doubts(self) -> Floats:
        """Return the probability that each item's label is wrong, shape (items,)."""
        found: Floats = np.where(self.is_experts, 0.0, self.calibration.of(self.belief.doubts()))
        return found

    def next_purchase(self, target: Target) -> Purchase:
        """Return the next purchase."""
        return next_purchase(
            self.doubts(),
            self.votes,
            self.is_free,
            target,
            vote_cents=self.vote_cents,
            cents_left=target.budget_cents - self.spent_cents,
            is_waiting=self.is_waiting,
        )


def outlook_of(campaign: Campaign) -> Outlook | None:
    """Return the facts for the next wave; None before the first batch has its first votes.

    Reads every annotation, so use it only in jobs.
    """
    items = Item.objects.filter(batch__in=batches_voted(campaign), state=ItemState.ACTIVE).order_by("pk")
    needed = dict(items.values_list("pk", "votes"))
    ids = list(needed)
    # What is under way is read first: an answer that comes in meanwhile is counted, and not asked for once more.
    waiting = _waiting(campaign)
    judgments = votes_in(campaign)
    if not len(judgments) or not ids:
        return None
    belief = _belief(judgments, ids)
    votes = belief.counts.sum(axis=1).astype(np.int64)
    short = {pk for pk, there in zip(ids, votes, strict=True) if there < needed[pk]}
    pending = set(Case.objects.filter(campaign=campaign, state__in=PENDING).values_list("item", flat=True))
    decided = Verdict.objects.filter(campaign=campaign, superseded_at=None, rule=Rule.EXPERT)
    experts = set(decided.values_list("item", flat=True))
    audit = _calibrating(campaign)
    is_experts = _which(ids, experts)
    calibration = _sample(audit, ids, judgments.labels).calibration(belief, is_experts) if audit else Calibration()
    price = answer_cents(campaign)
    last = Wave.objects.filter(campaign=campaign).order_by("-number").first()
    return Outlook(
        ids,
        belief,
        votes,
        _which(ids, waiting | short | pending | experts, inverted=True),
        is_experts,
        calibration,
        audit,
        spent_cents(campaign, price),
        price,
        bool(waiting),
        len(waiting) <= STRAGGLERS * (len(last.votes) if last else 0),
    )


def batches_voted(campaign: Campaign) -> list[Batch]:
    """Return the open batches of ordinary items that have all their first votes."""
    rows = Batch.objects.filter(campaign=campaign, state=BatchState.OPEN, purpose__in=ORDINARY).order_by("ordinal")
    return [batch for batch in rows if not slots_waiting(batch, 1)]


def is_due(campaign: Campaign) -> bool:
    """Return whether another wave could begin: a batch has its first votes, and hardly any bought votes are missing."""
    batches = batches_voted(campaign)
    last = Wave.objects.filter(campaign=campaign).order_by("-number").first()
    most = int(STRAGGLERS * len(last.votes)) if last else 0
    return bool(batches) and sum(slots_waiting(batch, 2, most=most + 1) for batch in batches) <= most


def _waiting(campaign: Campaign) -> set[int]:
    """Return the items with bought votes that are still missing, or whose voters aren't confirmed yet."""
    states = [SlotState.OPEN, SlotState.HELD]
    slots = Slot.objects.filter(campaign=campaign, round=2, is_wanted=True, state__in=states)
    unconfirmed = Annotation.objects.filter(campaign=campaign, state=AnnotationState.PROVISIONAL, slot__isnull=False)
    return {*slots.values_list("item", flat=True), *unconfirmed.values_list("item", flat=True)}


def _which(ids: Collection[int], among: Collection[int], *, inverted: bool = False) -> NDArray[np.bool_]:
    return np.array([(pk in among) is not inverted for pk in ids], dtype=bool)


def _belief(judgments: Judgments, ids: list[int]) -> Belief:
    """Return the label probabilities of some items, from all votes of a campaign."""
    belief, places = belief_of(judgments), {item: place for place, item in enumerate(judgments.items)}
    labels = len(judgments.labels)
    counts, posterior = np.zeros((len(ids), labels)), np.full((len(ids), labels), 1 / labels)
    known = np.array([place for place, pk in enumerate(ids) if pk in places], dtype=np.int64)
    rows = [places[ids[place]] for place in known]
    counts[known], posterior[known] = belief.counts[rows], belief.posterior[rows]
    return Belief(counts, posterior, belief.people, belief.shares)


def _calibrating(campaign: Campaign) -> Audit | None:
    """Return the calibrating audit: the first finished one, which is kept from then on."""
    kept = (
        TargetSnapshot.objects.filter(campaign=campaign).exclude(calibration=None).select_related("calibration").first()
    )
    if kept:
        return kept.calibration
    finished = [one["audit"] for one in audits_of(campaign) if "share" in one]
    return Audit.objects.filter(pk__in=finished).order_by("pk").first()


def _sample(audit: Audit, ids: list[int], labels: Sequence[Any]) -> Sample:
    """Return what experts said about the items of an audit that are still among ``ids``."""
    places, columns = ({value: place for place, value in enumerate(values)} for values in (ids, labels))
    rows = [row for row in judged_in(audit) if row.item in places]
    return Sample(
        np.array([places[row.item] for row in rows], dtype=np.int64),
        np.array([columns.get(row.label, -1) for row in rows], dtype=np.int64),
        np.array([row.stands_for for row in rows]),
    )


def spent_cents(campaign: Campaign, vote_cents: float) -> int:
    """Return the cost of all waves so far, including paid votes that were later excluded."""
    waves = Wave.objects.filter(campaign=campaign).aggregate(cents=Sum("cents"))["cents"] or 0
    lost = Annotation.objects.filter(campaign=campaign, assignment__slot__round=2).exclude(
        state__in=[*FILLING, *NOBODYS]
    )
    return waves + ceil(lost.count() * vote_cents)


def state_of(outlook: Outlook, found: Purchase, target: Target) -> dict[str, Any]:
    """Return the data for the page of a target."""
    points = forecast(
        outlook.belief,
        replace(target, budget_cents=max(0, target.budget_cents - outlook.spent_cents)),
        outlook.calibration,
        fewest=0,
        vote_cents=outlook.vote_cents,
        is_settled=outlook.is_experts,
    )
    return {
        "item_count": len(outlook.items),
        "predicted": found.predicted,
        "stop": found.stop,
        "error": target.error,
        "is_waiting": outlook.is_waiting,
        "undecided": int((outlook.doubts() >= 1).sum()),
        "by_experts": int(outlook.is_experts.sum()),
        "votes": int(outlook.votes.sum()),
        "spent_cents": outlook.spent_cents,
        "vote_cents": outlook.vote_cents,
        "calibration": None if outlook.audit is None else outlook.audit.pk,
        "forecast": [(outlook.spent_cents + point.cents, point.error) for point in points][:MOST_POINTS],
    }


def waves_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return every wave: its number, start, purchases, and the cost and prediction before it."""
    found, spent = [], 0
    for wave in Wave.objects.filter(campaign=campaign).order_by("number"):
        found.append(
            {
                "number": wave.number,
                "began_at": wave.began_at.isoformat(sep=" ", timespec="minutes"),
                "votes": len(wave.votes),
                "cases": len(wave.cases),
                "cents": wave.cents,
                "spent_before": spent,
                "predicted": wave.predicted,
            }
        )
        spent += wave.cents
    return found
