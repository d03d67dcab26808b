"""The results of a campaign of judged pairs: the figures of the paper's Table 1, and the outcomes of people's work."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db.models import Count, Q, Sum, TextField
from django.db.models.functions import Cast

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import (
    FILLING,
    ORDINARY,
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
    Campaign,
    Item,
    ItemState,
    Participation,
    Slot,
    Standing,
)
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from quality.gold.selectors import checks_held
from quality.models import Case, CaseReason, Inspection, Rule, Verdict
from workforces.models import LedgerEntry, Ticket, TicketState

# What was taken back, and what nobody vouches for, is no judgment of anyone.
NOBODYS = (AnnotationState.UNDONE, AnnotationState.GIVEN_UP, AnnotationState.PROVISIONAL)


@dataclass
class Summary:
    """Counts of a campaign, without gold and pilot items unless the name says otherwise. Amounts in cents.

    ``excluded_paid`` are judgments that are paid but not counted; ``refused`` are those whose pay a person
    refused. The paper's "rejected" judgments were both at once.
    """

    questions: int = 0
    pairs: int = 0
    has_vote: bool = False
    verdicts: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    no_agreement_first: int = 0
    expert_cases: int = 0  # that came for want of agreement
    workers: int = 0
    judgments: int = 0
    excluded_paid: int = 0
    refused: int = 0
    gold_checks: int = 0
    gold_misses: int = 0
    warned: int = 0
    paused: int = 0
    suspended: int = 0
    inspected: int = 0
    inspections: int = 0
    reward_cents: int = 0
    bonus_cents: int = 0
    fee_cents: int = 0


def summary_of(campaign: Campaign) -> Summary:
    """Return the counts. The cost grows with the campaign: use it in jobs and commands, not in pages."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    verdicts = Verdict.objects.filter(campaign=campaign, superseded_at=None, item__in=items)
    work = Annotation.objects.filter(campaign=campaign, item__batch__purpose__in=ORDINARY).exclude(state__in=NOBODYS)
    refused = Counter(work.filter(ticket_work__ticket__state=TicketState.REFUSED).values_list("state", flat=True))
    done = (
        work.values_list("surrogate", "state").annotate(n=Count("pk")).order_by("surrogate")
    )  # one walk for all of them
    states: Counter[str] = Counter()
    for _surrogate, state, n in done:
        states[state] += n
    told = verdicts.filter(unsealed())
    rules = Counter(dict(told.values_list("rule").annotate(n=Count("pk")).order_by("rule")))
    standings = Counter(Participation.objects.filter(campaign=campaign).values_list("standing", flat=True))
    checks = checks_held(campaign)
    read = Inspection.objects.filter(campaign=campaign)
    questions, known = _contents(campaign, items)
    found = Summary(
        questions=questions,
        pairs=items.count(),
        has_vote=isinstance(TASK_TYPES[campaign.task_type], Voted),
        verdicts=verdicts.count(),
        labels=_labels(campaign, told, known),
        rules={rule: rules[rule] for rule in Rule.values},
        no_agreement_first=Slot.objects.filter(unsealed(), item__in=items, round=2).values("item").distinct().count(),
        expert_cases=Case.objects.filter(unsealed(), campaign=campaign, because=CaseReason.NO_AGREEMENT).count(),
        workers=len({surrogate for surrogate, _state, _n in done}),
        judgments=states.total(),
        refused=refused.total(),
        excluded_paid=sum(n - refused[state] for state, n in states.items() if state not in FILLING),
        gold_checks=checks.count(),
        gold_misses=checks.filter(is_hit=False).count(),
        warned=standings[Standing.WARNED],
        paused=standings[Standing.PAUSED],
        suspended=standings[Standing.SUSPENDED],
        inspections=read.count(),
        inspected=read.exclude(verdict="").count(),
    )
    money = LedgerEntry.objects.filter(campaign=campaign).aggregate(
        reward=Sum("cents", filter=Q(kind="reward")), bonus=Sum("cents", filter=Q(kind="bonus")), fee=Sum("fee_cents")
    )
    found.reward_cents, found.bonus_cents, found.fee_cents = (money[name] or 0 for name in ("reward", "bonus", "fee"))
    return found


def _contents(campaign: Campaign, items: Any) -> tuple[int, Counter[str]]:
    """Return the number of distinct questions, and the labels known without a vote, each counted once."""
    task_type = TASK_TYPES[campaign.task_type]
    known_label = task_type.known_label if isinstance(task_type, Voted) else None
    questions, known = set(), set()
    rows = items.annotate(text=Cast("content", TextField())).values_list("pk", "text")  # read faster than by the field
    for pk, text in rows.iterator(chunk_size=2000):
        content = orjson.loads(text)
        questions.add(task_type.question_key(content) or pk)
        if known_label is not None:
            known.add(known_label(content))
    return len(questions), Counter(str(one[1]) for one in known if one is not None)


def _labels(campaign: Campaign, verdicts: Any, known: Counter[str]) -> dict[str, int]:
    """Return labels, best first, with their numbers of items, including labels known without a vote (Table 1)."""
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Voted):
        return {}
    counts = Counter(str(label) for label in verdicts.values_list("label", flat=True))
    return {str(label): counts[str(label)] + known[str(label)] for label in task_type.labels}


def people_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return one row per person: standing, work, gold, tickets; people who need a decision come first."""
    places = {row.surrogate_id: row for row in Participation.objects.filter(campaign=campaign)[:5000]}
    checks = checks_held(campaign).values("surrogate").order_by("surrogate")
    gold: dict[Any, Any] = {
        row["surrogate"]: row for row in checks.annotate(n=Count("pk"), hits=Count("pk", filter=Q(is_hit=True)))
    }
    tickets = Ticket.objects.filter(workforce__campaign=campaign).values("surrogate").order_by("surrogate")
    work: dict[Any, Any] = {
        row["surrogate"]: row
        for row in tickets.annotate(
            approved=Count("pk", filter=Q(state=TicketState.APPROVED)),
            refused=Count("pk", filter=Q(state=TicketState.REFUSED)),
            waiting=Count("pk", filter=Q(state=TicketState.SUBMITTED)),
        )
    }
    skipped = _skipped(campaign)
    order = {Standing.PAUSED: 0, Standing.WARNED: 1, Standing.ACTIVE: 2, Standing.SUSPENDED: 3}
    rows = [
        {
            "surrogate_id": surrogate_id,
            "standing": place.standing,
            "standing_label": place.get_standing_display(),
            "submitted": place.submitted,
            "skipped": sum(skipped.get(surrogate_id, {}).values()),
            "offensive": skipped.get(surrogate_id, {}).get("offensive", 0),
            "checks": gold.get(surrogate_id, {}).get("n", 0),
            "hits": gold.get(surrogate_id, {}).get("hits", 0),
            **{name: work.get(surrogate_id, {}).get(name, 0) for name in ("approved", "refused", "waiting")},
        }
        for surrogate_id, place in places.items()
    ]
    return sorted(rows, key=lambda row: (order[Standing(row["standing"])], str(row["surrogate_id"])))


def _skipped(campaign: Campaign) -> dict[Any, dict[str, int]]:
    """Return each person's number of skipped items, by reason."""
    rows = Assignment.objects.filter(campaign=campaign, state=AssignmentState.SKIPPED)
    found: dict[Any, dict[str, int]] = defaultdict(dict)
    counted = rows.values_list("surrogate_id", "skip_reason").annotate(n=Count("pk")).order_by("surrogate_id")
    for surrogate_id, reason, n in counted:
        found[surrogate_id][reason] = n
    return found
