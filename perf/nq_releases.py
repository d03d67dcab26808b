"""Releases of pages as large as those of Natural Questions: ``python -m perf.nq_releases [--items 200 1000]``.

Items on fifty pages of about a megabyte of JSON each, five annotations per item. Each release is a process of its own:
its peak memory, and megabytes of JSON in a second beside gzip (level 1) of the same bytes in a process of its own.
"""

import argparse
import json
import os
import random
from pathlib import Path

from perf.peak import run
from perf.setup import start

FOLDER = Path(start())

from django.core.management import call_command
from django.utils import timezone

from accounts.models import ExternalIdentity, Surrogate
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.items.services.items import items_import
from annotation.models import Annotation, Batch, Campaign, Participation, Slot
from annotation.slots.services.slots import batch_launch
from database.bulk import rows_insert
from perf.campaigns import work
from storage.tables.rows import read_rows

PAGES, WAYS, WORDS = 50, 5, 11_000
COPY = """
import gzip, sys
with gzip.open(sys.argv[1]) as source, gzip.open(sys.argv[2], "wb", compresslevel=1) as target:
    while block := source.read(1 << 20):
        target.write(block)
"""
ANSWER = {
    "question": {"first": "good", "label": "good", "reason": ""},
    "long_answer": {"candidate_index": 1, "reason": ""},
    "short_answer": {"kind": "none", "spans": []},
}


def pages() -> Path:
    """Write a folder of pages of plain paragraphs."""
    folder, draw = FOLDER / "pages", random.Random(3)
    folder.mkdir()
    words = "the of in harbour lighthouse was built century and keeper tide".split()
    for page in range(PAGES):
        text = "".join(f"<p>{' '.join(draw.choices(words, k=58))}</p>" for _ in range(WORDS // 60))
        (folder / f"page{page}.html").write_text(f"<h1>Page {page}</h1>{text}")
    return folder


def labelled(items: int, folder: Path) -> Campaign:
    """Return a campaign with this number of items, each with all its annotations."""
    made = campaign_create(
        slug=f"nq{items}",
        title="Pages",
        task_type="nq",
        splits=[NewSplit("dev", WAYS)],
        created_by=None,
        consent=NewConsent("To measure.", "Answers.", "a@example.org"),
        now=timezone.now(),
        seed=7,
    )
    call_command("import_documents", str(folder), campaign=made.slug, stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    path = FOLDER / f"questions{items}.jsonl"
    rows = (
        {"question": f"who built harbour {n}", "document": f"page{n % PAGES}.html", "id": str(n)} for n in range(items)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with path.open("rb") as file:
        items_import(work=work(), campaign=made, rows=read_rows(file, path.name), pilot=False, good_rows_only=False)
    batch_launch(work=work(), batch=Batch.objects.get(campaign=made), actor_id=None)
    people = [Surrogate.objects.create() for _ in range(WAYS)]
    Participation.objects.bulk_create(Participation(campaign=made, surrogate=one) for one in people)
    ExternalIdentity.objects.bulk_create(
        ExternalIdentity(surrogate=one, source="perf", name=f"{items}-{number}") for number, one in enumerate(people)
    )
    slots = Slot.objects.filter(campaign=made).values_list("pk", "item_id", "index").order_by("pk")
    answer = json.dumps(ANSWER)
    said = [(f"{items}{pk}", item, pk, people[index].pk.hex, answer) for pk, item, index in slots]
    same = {
        "campaign_id": made.pk,
        "answer_version": 1,
        "state": "counted",
        "submitted_at": timezone.now(),
        "seconds": 12.0,
        "is_examined": True,
        "stage_seconds": {},
    }
    rows_insert(Annotation, ("published_id", "item_id", "slot_id", "surrogate_id", "answer"), said, same=same)
    return made


def main() -> None:
    """Make the campaigns and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[200, 1_000])
    folder = pages()
    for items in parser.parse_args().items:
        campaign, out = labelled(items, folder), FOLDER / f"out{items}"
        command = ["release", campaign.slug, "--format", "nq-original", "--ways", str(WAYS), "--to", str(out)]
        made = run("manage.py", *command)
        if made.status:
            raise SystemExit(made.said)
        shard = out / "nq-dev-00.jsonl.gz"
        manifest = json.loads((out / "manifest.json").read_text())
        size = manifest["files"][shard.name]["content_size"] / 1e6
        floor = run("-c", COPY, shard, FOLDER / "copy.gz")
        print(
            f"{items} items, {size / items:.2f} MB of JSON each: release {size / made.wall:.0f} MB/s ({made.wall:.1f} s, CPU {made.cpu:.1f} s), "
            f"peak {made.peak} MiB; gzip of the same bytes {size / floor.wall:.0f} MB/s (CPU {floor.cpu:.1f} s): "
            f"{floor.wall / made.wall:.2f} of the floor by the clock, {floor.cpu / made.cpu:.2f} by CPU",
            flush=True,
        )


if __name__ == "__main__":
    main()
