"""Campaigns of pairs to measure on: imported and launched as people do it, voted on row by row."""

import json
import random
from itertools import islice
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from django.db import transaction
from django.utils import timezone

from accounts.models import ExternalIdentity, Surrogate
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.items.services.items import items_import
from annotation.models import Annotation, Batch, Campaign, Item, Participation, Slot
from annotation.slots.services.slots import batch_launch
from database.bulk import rows_insert
from jobs.models import Job
from jobs.work import Work
from quality.labels.services.verdicts import items_judge, items_lock
from quality.policies.services import policy_ensure
from storage.tables.rows import read_rows

VOTES, PEOPLE = 3, 577
AT_ONCE, JUDGED_AT_ONCE = 50_000, 500


def write_pairs(path: Path, count: int) -> None:
    """Write a file of pairs, thirteen answers a question, as large as those of nfL6."""
    with path.open("w") as file:
        for number in range(count):
            question = 100_000 + number // 13
            pair = {
                "question_id": str(question),
                "question": f"how do i clean thing {question} without damaging it?",
                "answer_id": f"{question}_{number % 13}",
                "answer": f"Use warm water {number} and a soft cloth. " * 6,
                "possibly_correct_id": f"{question}_best",
                "possibly_correct_answer": "Use vinegar. " * 12,
                "category": "Home",
            }
            file.write(f"{json.dumps(pair)}\n")


def work() -> Work:
    """Return a running job to import or launch in."""
    now = timezone.now()
    return Work(
        Job.objects.create(
            kind="perf",
            lane="bulk",
            payload={},
            state="running",
            attempt=1,
            due_at=now,
            created_at=now,
            lease_until=now,
        )
    )


def created(slug: str, votes: int = VOTES, *, tells_behaviour: bool = False) -> Campaign:
    """Return an open campaign without items."""
    consent = NewConsent("To measure.", "Answers.", "a@example.org", tells_behaviour=tells_behaviour)
    made = campaign_create(
        slug=slug,
        title=slug.title(),
        task_type="antique",
        splits=[NewSplit("train", votes)],
        created_by=None,
        consent=consent,
        now=timezone.now(),
        seed=7,
    )
    campaign_move(campaign=made, to="open", actor_id=None, now=timezone.now())
    return made


def pairs_import(campaign: Campaign, path: Path) -> None:
    """Import a file of pairs."""
    with path.open("rb") as file:
        items_import(work=work(), campaign=campaign, rows=read_rows(file, path.name), pilot=False, good_rows_only=False)


def pairs_launch(campaign: Campaign) -> None:
    """Launch what was imported."""
    batch_launch(work=work(), batch=Batch.objects.get(campaign=campaign), actor_id=None)


def pairs_vote(campaign: Campaign, count: int) -> None:
    """Fill the slots of the first items with three votes each, of which two are alike, by as many people as the paper's."""
    draw = random.Random(7)
    people = [Surrogate.objects.create() for _ in range(PEOPLE)]
    Participation.objects.bulk_create(Participation(campaign=campaign, surrogate=one) for one in people)
    ExternalIdentity.objects.bulk_create(
        ExternalIdentity(surrogate=one, source="perf", name=str(number)) for number, one in enumerate(people)
    )
    surrogates = [one.pk.hex for one in people]
    same = {
        "campaign_id": campaign.pk,
        "answer_version": 1,
        "state": "counted",
        "submitted_at": timezone.now(),
        "seconds": 12.0,
        "is_examined": True,
        "stage_seconds": {},
    }
    last = Item.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True)[count - 1]
    slots = Slot.objects.filter(campaign=campaign, item__lte=last).order_by("item", "index")
    numbered = enumerate(slots.values_list("pk", "item_id", "index").iterator(chunk_size=AT_ONCE))
    while some := list(islice(numbered, AT_ONCE)):
        rows = []
        for number, (slot, item, index) in some:
            label = item % 4 + 1 if index < 2 or draw.random() < 0.7 else draw.randint(1, 4)
            answer = json.dumps({"label": label, "way": ""})
            rows.append((str(number), item, slot, surrogates[(number * 7 + number // PEOPLE) % PEOPLE], answer))
        rows_insert(Annotation, ("published_id", "item_id", "slot_id", "surrogate_id", "answer"), rows, same=same)
    slots.order_by().update(state="filled")


def pairs_judge(campaign: Campaign, count: int) -> None:
    """Bring the first items to their verdicts, as quality control does after their last vote."""
    version, policy = policy_ensure(campaign=campaign, now=timezone.now())
    keys = list(Item.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True)[:count])
    for first in range(0, count, JUDGED_AT_ONCE):
        with transaction.atomic():
            held = items_lock(keys[first : first + JUDGED_AT_ONCE])
            items_judge(items=held, version=version, policy=policy, now=timezone.now())
