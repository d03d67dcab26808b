"""Campaigns with gold keys, experts, disputed items and numbers, for the tests of the quality desk."""

from datetime import timedelta

from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Participation, Slot
from jobs.services import job_enqueue
from quality.dashboard.selectors import agreement
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.services.cases import case_ask
from quality.experts.services.opinions import opinion_give
from quality.gold.services.keys import gold_import
from quality.models import Audit, Case, CaseReason, GoldCheck, GoldKey
from quality.payloads import AuditDrawPayload
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from tests import factories

# New annotators meet three keys first.
FIRST = Policy(gold_rate=0, gold_first=3, gold_first_items=3, inspection_rate=1.0)


def rows(accepted, count=1, start=0):
    return [
        (
            number + 1,
            {
                "id": f"gold{start + number}",
                "question": f"gold question {start + number}?",
                "document": "harbour.html",
                "accepted": accepted,
            },
        )
        for number in range(count)
    ]


def nq(*, n=2, items=3, keys=0, accepted=None, **options):
    """Return an open campaign of questions with keys that accept the first box."""
    made = factories.campaign(n=n)
    policy_publish(campaign=made, policy=FIRST, actor_id=None, now=timezone.now())
    if keys:
        wanted = accepted or [{"long_answer": 0}]
        gold_import(campaign=made, rows=rows(wanted, keys), actor_id=None, now=timezone.now(), **options)
    factories.import_questions(made, [f"question {index} about the harbour" for index in range(items)])
    factories.launch(made)
    return made


def careless(campaign, count=3, **chosen):
    person = factories.annotator(campaign)
    for _ in range(count):
        factories.annotate(campaign, person, **{"label": "good", "box": 3, **chosen})
    factories.examine(campaign)
    return person


def three_answers(campaign):
    """Return an item with three answers: two boxes, one of them with a short answer, and none."""
    for box, kind in ((0, "yes"), (1, "none"), (-1, "none")):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=box, kind=kind)
    return campaign.items.filter(batch__purpose="work").first()


def expert_of(campaign):
    person = factories.user()
    factories.join(campaign, person, Role.EXPERT)
    return person


def in_discussion(campaign):
    item = three_answers(campaign)
    experts = [expert_of(campaign) for _ in range(3)]
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=experts[0].surrogate_id, now=timezone.now())
    case = Case.objects.get()
    for expert, grade in zip(experts, ("correct", "wrong"), strict=False):
        grades = dict.fromkeys((part["key"] for part in case.parts), grade)
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=grades, justification="", now=timezone.now())
    return case, experts


def judged(monkeypatch):
    """Return a campaign of pairs with checks and its numbers, in which two of three annotators of an item agree."""
    monkeypatch.setattr(agreement, "TREND_ITEMS", 5)
    made = factories.antique(items=12, n=3, gold=3)
    people = [factories.annotator(made) for _ in range(3)]
    at = timezone.now() - timedelta(days=2)
    slots = Slot.objects.filter(campaign=made, item__batch__purpose="work").order_by("item", "index")
    for number, slot in enumerate(slots):
        label = 4 if (number // 3) % 2 or number % 3 else 1
        Annotation.objects.create(
            campaign=made,
            item_id=slot.item_id,
            slot=slot,
            surrogate_id=people[number % 3].surrogate_id,
            state="counted",
            answer={"label": label, "way": ""},
            answer_version=1,
            submitted_at=at,
            seconds=9,
            published_id=str(number),
        )
    for person in people:
        key = GoldKey.objects.first()
        row = Annotation.objects.filter(surrogate_id=person.surrogate_id).first()
        Participation.objects.create(campaign=made, surrogate_id=person.surrogate_id, submitted=12)
        GoldCheck.objects.create(
            annotation=row, key=key, campaign=made, surrogate_id=person.surrogate_id, is_hit=True, at=at
        )
    numbers_refresh(campaign=made, now=timezone.now())
    quality_numbers_refresh(campaign=made, now=timezone.now())
    return made


def draw_audit(campaign, boss, *, count=30, twice=0.2, seed=3):
    """Draw an audit with a seed that tests know, which a manager can't give, and let the job run."""
    job_enqueue(
        kind="quality.audit",
        payload=AuditDrawPayload(campaign=str(campaign.pk), count=count, twice=twice, seed=seed),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=boss.surrogate_id,
    )
    factories.run_jobs()
    return Audit.objects.order_by("-pk").first()
