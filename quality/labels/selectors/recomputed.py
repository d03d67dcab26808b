"""Labels recomputed from the annotations and the policy that their verdicts name (invariant 7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign
from annotation.tasktypes.registry import voted
from quality.labels.ties_and_rounds import Vote, standing
from quality.models import Verdict
from quality.policies.policy import policy_from

CHUNK = 2000  # verdicts in memory


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A verdict and its recomputed label; None if its inputs give no label."""

    verdict: Verdict
    label: Any

    @property
    def agrees(self) -> bool:
        """Return whether the recomputed label equals the stored one."""
        return bool(self.label == self.verdict.label)


def label_recomputed(verdict: Verdict) -> Any:
    """Return the label recomputed from a verdict's annotations and policy; None if they give no label."""
    vote_key = voted(verdict.item.campaign.task_type).vote_key
    votes: dict[int, list[Vote]] = {1: [], 2: []}
    for row in verdict.annotations.all():
        if row.slot is not None:
            votes[row.slot.round].append(Vote(row.pk, vote_key(row.answer)))
    opinion = verdict.opinion.label if verdict.opinion else None
    policy = policy_from(verdict.policy.data)
    return standing(votes[1], votes[2], opinion, needed=len(votes[1]), policy=policy).label


def verdicts_recomputed(campaign: Campaign) -> Iterator[Recomputed]:
    """Yield each verdict of a campaign, including superseded ones, with its recomputed label, in the order of ids."""
    rows = Verdict.objects.filter(campaign=campaign).select_related("item__campaign", "policy", "opinion")
    for verdict in rows.prefetch_related("annotations__slot").order_by("pk").iterator(chunk_size=CHUNK):
        yield Recomputed(verdict, label_recomputed(verdict))
