"""What claim and submit cost as the campaign and an annotator's past grow: ``python -m perf.claims``.

Campaigns of 1,000 and 100,000 items (three slots each) are written straight into the tables; a
newcomer and a person with 3,000 items behind them then claim and submit through the services.
"""

import json
import statistics
import time
import uuid

from perf.setup import start

start()

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Role, User
from accounts.selectors import consent_text_current
from accounts.services import consent_give, membership_grant
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.models import Annotation, Assignment, Batch, BatchState, Item, Participation, Slot
from annotation.slots.ordering import order_key
from annotation.slots.services.claims import slot_claim_next
from annotation.work.services.drafts import stage_advance
from annotation.work.services.submissions import assignment_submit
from database.bulk import statistics_refresh

SIZES = (1_000, 10_000, 100_000)
VETERAN = 3_000
ROUNDS = 150


def campaign_of(size, task_type="nq"):
    now = timezone.now()
    campaign = campaign_create(
        slug=f"perf-{size}-{uuid.uuid4().hex[:6]}",
        title="Perf",
        task_type=task_type,
        splits=[NewSplit("dev", 3)],
        consent=NewConsent("a", "b", "c"),
        created_by=None,
        now=now,
    )
    campaign_move(campaign=campaign, to="open", actor_id=None, now=now)
    batch, split = Batch.objects.get(campaign=campaign), campaign.splits.get()
    for start_at in range(0, size, 5_000):
        with transaction.atomic():
            items = Item.objects.bulk_create(
                Item(
                    campaign=campaign,
                    batch=batch,
                    split=split,
                    external_id=f"q{n}",
                    published_id=str(n),
                    n=3,
                    votes=3,
                    content={
                        "question_id": f"q{n}",
                        "question_text": f"question {n}",
                        "answer_text": f"An answer to question {n}, of some length. " * 8,
                    },
                    content_sha256=f"{n:064d}",
                    created_at=now,
                )
                for n in range(start_at, min(start_at + 5_000, size))
            )
            Slot.objects.bulk_create(
                Slot(
                    campaign=campaign,
                    item=item,
                    index=index,
                    order_key=order_key(0, batch=1, round_=1, wave=0, item=item.external_id, index=index),
                )
                for item in items
                for index in range(3)
            )
    Batch.objects.filter(pk=batch.pk).update(state=BatchState.OPEN)
    statistics_refresh(Item, Slot)  # as a launch does
    return campaign


def annotator(campaign):
    user = User.objects.create_user(f"{uuid.uuid4().hex}@example.org", None)
    with transaction.atomic():
        membership_grant(user=user, scope_id=campaign.pk, role=Role.ANNOTATOR, actor_id=None, now=timezone.now())
    consent_give(text_id=consent_text_current(campaign.pk).pk, surrogate_id=user.surrogate_id, now=timezone.now())
    return user.surrogate_id


def give_a_past(campaign, surrogate_id, count):
    """Fill the first slots of the queue, each of another item, as if this person had answered them."""
    now, seen, chosen = timezone.now(), set(), []
    for slot in Slot.objects.filter(campaign=campaign).order_by("order_key").iterator():
        if slot.item_id not in seen:
            seen.add(slot.item_id)
            chosen.append(slot)
        if len(chosen) == count:
            break
    guideline = guideline_current(campaign)
    with transaction.atomic():
        done = Assignment.objects.bulk_create(
            Assignment(
                campaign=campaign,
                item_id=slot.item_id,
                slot=slot,
                surrogate_id=surrogate_id,
                guideline=guideline,
                state="submitted",
                claimed_at=now,
                deadline_at=now,
            )
            for slot in chosen
        )
        Annotation.objects.bulk_create(
            Annotation(
                published_id=str(uuid.uuid4().int >> 64),
                assignment=assignment,
                campaign=campaign,
                item_id=assignment.item_id,
                slot_id=assignment.slot_id,
                surrogate_id=surrogate_id,
                guideline=guideline,
                answer={},
                answer_version=1,
                state="counted",
                submitted_at=now,
                seconds=1,
            )
            for assignment in done
        )
        for start_at in range(0, len(chosen), 500):
            Slot.objects.filter(pk__in=[slot.pk for slot in chosen[start_at : start_at + 500]]).update(state="filled")
        Participation.objects.create(
            campaign=campaign, surrogate_id=surrogate_id, submitted=count, cursor=chosen[-1].order_key
        )


def measure(campaign, surrogate_id):
    claims, submits = [], []
    claim = slot_claim_next(campaign=campaign, surrogate_id=surrogate_id, now=timezone.now())
    for _ in range(ROUNDS):
        assignment = stage_advance(
            assignment_id=claim.assignment.pk,
            surrogate_id=surrogate_id,
            stage="question",
            sent={"label": "bad"},
            version=0,
            now=timezone.now(),
        )
        begun = time.perf_counter()
        # A document is not needed for a bad question; the answer is checked against an empty page.
        claim = assignment_submit(assignment_id=assignment.pk, surrogate_id=surrogate_id, now=timezone.now()).next
        submits.append(time.perf_counter() - begun)
        Assignment.objects.filter(pk=claim.assignment.pk).update(state="released")
        Slot.objects.filter(pk=claim.assignment.slot_id).update(state="open")
        begun = time.perf_counter()
        claim = slot_claim_next(campaign=campaign, surrogate_id=surrogate_id, now=timezone.now())
        claims.append(time.perf_counter() - begun)
    return [round(1000 * statistics.median(values), 2) for values in (claims, submits)]


def plan(campaign, surrogate_id):
    """Return the query plan of the look along the queue."""
    queue = Slot.objects.filter(campaign=campaign, state="open", is_reopened=False, order_key__gte=1).order_by(
        "order_key", "pk"
    )
    return queue.values_list("pk", "item_id", "order_key")[:64].explain()


def main():
    from annotation.tasktypes.nq import task

    task._known = lambda page: page  # perf items have no documents; the answers here need none
    print(f"database: {connection.vendor}")
    for size in SIZES:
        campaign = campaign_of(size)
        veteran, newcomer = annotator(campaign), annotator(campaign)
        give_a_past(campaign, veteran, min(VETERAN, size // 2))
        rows = {who: measure(campaign, surrogate) for who, surrogate in (("newcomer", newcomer), ("veteran", veteran))}
        print(
            json.dumps({"items": size, "veteran_items": min(VETERAN, size // 2), "ms (claim, submit and claim)": rows})
        )
        print(plan(campaign, newcomer))


if __name__ == "__main__":
    main()
