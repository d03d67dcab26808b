"""The standings of many items at once, read from the database."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Annotation, AnnotationState, Item
from annotation.tasktypes.registry import voted
from quality.labels.ties_and_rounds import Stage, Standing, Vote, standing
from quality.models import CaseReason, Opinion, Phase, Verdict
from quality.policies.policy import Policy, Process

Votes = dict[int, list[Vote]]  # by round


@dataclass(frozen=True, slots=True)
class ItemStanding:
    """The result of an item's votes, the expert's opinion if there is one, and the verdict in force."""

    found: Standing
    opinion: Opinion | None
    verdict: Verdict | None
    inputs: frozenset[int]  # the annotations that the verdict names

    @property
    def is_written(self) -> bool:
        """Return whether the verdict in force equals the result of the votes."""
        if self.verdict is None or self.found.stage is not Stage.DONE:
            return self.verdict is None and self.found.stage is not Stage.DONE
        named = (self.verdict.label, self.verdict.rule, self.inputs)
        return named == (self.found.label, self.found.rule, frozenset(self.found.inputs))


def standings_of(items: Collection[Item], policy: Policy) -> dict[int, ItemStanding]:
    """Return the standings of items (with their campaigns) by key, in four queries for any number of items."""
    votes, opinions = votes_of(items, policy), _opinions(items, policy)
    verdicts = {row.item_id: row for row in Verdict.objects.filter(item__in=items, superseded_at=None)}
    inputs = _inputs(verdicts.values())
    found = {}
    for item in items:
        opinion, verdict = opinions.get(item.pk), verdicts.get(item.pk)
        label = opinion.label if opinion else None
        rounds = votes[item.pk]
        stands = standing(rounds[1], rounds[2], label, needed=item.votes, policy=policy)
        found[item.pk] = ItemStanding(stands, opinion, verdict, frozenset(inputs[verdict.pk] if verdict else ()))
    return found


def votes_of(items: Collection[Item], policy: Policy) -> dict[int, Votes]:
    """Return the counted votes of items in the order of their slots; extra annotations aren't votes.

    In a campaign that buys votes for a target, all annotations of the second round are votes.
    """
    by_pk = {item.pk: item for item in items}
    votes: dict[int, Votes] = {pk: {1: [], 2: []} for pk in by_pk}
    counted = Annotation.objects.filter(item__in=by_pk, state=AnnotationState.COUNTED, slot__round__in=[1, 2])
    rows = counted.order_by("slot__index", "pk").values_list("pk", "item_id", "answer", "slot__round", "slot__index")
    for pk, item_id, answer, round_, index in rows:
        item = by_pk[item_id]
        if index < item.votes or (round_ == 2 and policy.process is Process.TARGET):
            votes[item_id][round_].append(Vote(pk, voted(item.campaign.task_type).vote_key(answer)))
    return votes


def _opinions(items: Collection[Item], policy: Policy) -> dict[int, Opinion]:
    """Return each item's last deciding opinion: the only opinion in its case, or a consensus.

    Audits measure labels and never set them. In a campaign that buys votes for a target, experts may overrule votes,
    but only in cases opened for that purpose.
    """
    decides = Q(case__experts=1) | Q(phase=Phase.CONSENSUS)
    rows = Opinion.objects.filter(decides, case__item__in=items).exclude(case__because=CaseReason.AUDIT)
    if policy.process is Process.TARGET:
        rows = rows.filter(case__because__in=[CaseReason.DOUBT, CaseReason.NO_AGREEMENT])
    rows = rows.select_related("case").order_by("pk")
    return {row.case.item_id: row for row in rows}


def _inputs(verdicts: Iterable[Verdict]) -> dict[int, list[int]]:
    """Return the annotations that each verdict names."""
    named = Verdict.annotations.through.objects.filter(verdict__in=[row.pk for row in verdicts])
    found: dict[int, list[int]] = defaultdict(list)
    for verdict_id, annotation_id in named.values_list("verdict_id", "annotation_id"):
        found[verdict_id].append(annotation_id)
    return found
