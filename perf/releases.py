"""What a release costs: ``python -m perf.releases [--labels N]``.

A judged campaign of relevance labels, three votes each: seconds and CPU of freezing it, of the qrels alone, and of
everything, beside plain gzip copying of the same bytes; and the peak memory of this process.
"""

import argparse
import gzip
import json
import random
import resource
from pathlib import Path

from perf.imports import measured, work, write_pairs  # sets Django up
from perf.setup import start

FOLDER = start()

from django.db import transaction
from django.utils import timezone

from accounts.models import ExternalIdentity, Surrogate
from annotation.models import Annotation, Batch, Campaign, Item, Participation, Slot
from annotation.rows import read_rows
from annotation.services.campaigns import ConsentPlan, SplitPlan, campaign_create
from annotation.services.items import items_import
from annotation.services.slots import batch_launch
from config.bulk import rows_insert
from exports.build import build_release
from exports.families import FAMILIES
from exports.services import release_freeze
from exports.targets import FolderTarget
from quality.services.policies import policy_ensure
from quality.services.verdicts import items_judge, items_lock

VOTES, PEOPLE = 3, 577


def judged(labels: int) -> Campaign:
    """Return a campaign with so many labels by majority."""
    made = campaign_create(
        slug="labels", title="Labels", task_type="antique", splits=[SplitPlan("train", VOTES)], created_by=None,
        consent=ConsentPlan("To measure.", "Answers.", "a@example.org"), now=timezone.now(), seed=7,
    )  # fmt: skip
    path = Path(FOLDER) / "pairs.jsonl"
    write_pairs(path, labels)
    with path.open("rb") as file:
        items_import(work=work(), campaign=made, rows=read_rows(file, "pairs.jsonl"), pilot=False, good_rows_only=False)
    batch_launch(work=work(), batch=Batch.objects.get(campaign=made), actor_id=None)
    _vote(made)
    version, policy = policy_ensure(campaign=made, now=timezone.now())
    keys = list(Item.objects.filter(campaign=made).order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(keys), 500):
        with transaction.atomic():
            items_judge(items=items_lock(keys[first : first + 500]), version=version, policy=policy, now=timezone.now())
    return made


def _vote(campaign: Campaign) -> None:
    draw = random.Random(7)
    people = [Surrogate.objects.create() for _ in range(PEOPLE)]
    Participation.objects.bulk_create(Participation(campaign=campaign, surrogate=one) for one in people)
    ExternalIdentity.objects.bulk_create(
        ExternalIdentity(surrogate=one, source="perf", name=str(number)) for number, one in enumerate(people)
    )
    surrogates = [one.pk.hex for one in people]
    rows = []
    slots = Slot.objects.filter(campaign=campaign).order_by("item", "index").values_list("pk", "item_id", "index")
    for number, (slot, item, index) in enumerate(slots.iterator()):
        label = item % 4 + 1 if index < 2 or draw.random() < 0.7 else draw.randint(1, 4)
        answer = json.dumps({"label": label, "way": ""})
        rows.append((str(number), item, slot, surrogates[(number * 7 + number // PEOPLE) % PEOPLE], answer))
    same = {
        "campaign_id": campaign.pk, "answer_version": 1, "state": "counted", "submitted_at": timezone.now(),
        "seconds": 12.0, "is_examined": True, "stage_seconds": {},
    }  # fmt: skip
    rows_insert(Annotation, ("published_id", "item_id", "slot_id", "surrogate_id", "answer"), rows, same=same)


def _quiet(*_said: object) -> None:
    pass


def _copied(folder: Path) -> None:
    """Compress the same bytes with gzip, as the floor."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            with gzip.open(Path(FOLDER) / "copy.gz", "wb", compresslevel=1) as target:
                target.write(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def main() -> None:
    """Make the campaign and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=30_000)
    options = parser.parse_args()
    campaign = judged(options.labels)
    print(Item.objects.count(), "items", Annotation.objects.count(), "annotations", flush=True)
    made = []

    def freeze() -> None:
        made.append(
            release_freeze(
                campaign=campaign, family="antique", ways=None, splits=[], seed=0, shards=1, actor_id=None,
                now=timezone.now(),
            )
        )  # fmt: skip

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    measured("freeze", freeze)
    [release], out = made, Path(FOLDER) / "release"
    qrels, nothing = Path(FOLDER) / "qrels", Path(FOLDER) / "part"
    nothing.mkdir()
    measured("qrels alone", lambda: FAMILIES["antique"].write(release, nothing, FolderTarget(qrels), _quiet, {}))
    measured("everything", lambda: build_release(release, FolderTarget(out), _quiet))
    measured("gzip of the same bytes", lambda: _copied(out))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {before / 1024:.0f} MB before, {after / 1024:.0f} MB after", flush=True)


if __name__ == "__main__":
    main()
