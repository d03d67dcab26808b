"""What the quality desk costs at the size of the paper: ``python -m perf.quality [--pairs N] [--people N] [--judgments N]``.

Seconds and CPU of a refresh of the numbers, and of each page by Django's test client, in this process.
"""

import argparse
import json
import random
import time
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.models import Consent, ConsentText, Surrogate, User
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Campaign, Item, Participation, Slot
from database.bulk import rows_insert
from perf.campaigns import created, pairs_import, pairs_launch, write_pairs
from perf.figures import measured
from quality.dashboard.services import quality_numbers_refresh
from quality.gold.services.keys import gold_import
from quality.models import GoldCheck, GoldKey
from quality.people.services.behaviour import behaviour_refresh

SLOTS = 5


def campaign_of(pairs: int) -> Campaign:
    """Return a launched campaign of pairs with 174 gold keys."""
    made, path = created("desk", SLOTS, tells_behaviour=True), FOLDER / "pairs.jsonl"
    write_pairs(path, pairs)
    pairs_import(made, path)
    pairs_launch(made)
    keys = [
        {
            "question_id": f"g{n}",
            "question": f"gold {n}?",
            "answer_id": f"g{n}_1",
            "answer": "Yes, it does.",
            "accepted": [4],
        }
        for n in range(174)
    ]
    gold_import(campaign=made, rows=list(enumerate(keys, 1)), actor_id=None, now=timezone.now())
    return made


def judge(campaign: Campaign, people: int, judgments: int) -> None:
    """Fill slots with the answers of invented people, a third of whom are careless; and twelve checks of each."""
    draw, now = random.Random(7), timezone.now()
    surrogates = [Surrogate.objects.create() for _ in range(people)]
    Participation.objects.bulk_create(Participation(campaign=campaign, surrogate=one) for one in surrogates)
    text = ConsentText.objects.get(scope_id=campaign.pk)
    Consent.objects.bulk_create(Consent(text=text, surrogate=one, given_at=now) for one in surrogates)
    slots = Slot.objects.filter(campaign=campaign, item__batch__purpose="work").order_by("item", "index")
    rows = []
    for number, (slot, item) in enumerate(slots.values_list("pk", "item_id")[:judgments]):
        who = (number * 7 + number // people) % people
        label = item % 4 + 1 if draw.random() < (0.4 if who % 3 == 0 else 0.8) else draw.randint(1, 4)
        answer = json.dumps({"label": label, "way": ""})
        rows.append((str(number), item, slot, surrogates[who].pk.hex, answer))
    columns = ("published_id", "item_id", "slot_id", "surrogate_id", "answer")
    same = {
        "campaign_id": campaign.pk,
        "answer_version": 1,
        "state": "counted",
        "submitted_at": now,
        "seconds": 12.0,
        "is_examined": True,
        "stage_seconds": {},
    }
    rows_insert(Annotation, columns, rows, same=same, ignore_conflicts=True)
    checks(campaign, surrogates, draw)


def checks(campaign: Campaign, surrogates: list[Surrogate], draw: random.Random) -> None:
    """Give each person twelve gold checks."""
    now, keys = timezone.now(), list(GoldKey.objects.filter(campaign=campaign))
    for number, one in enumerate(surrogates):
        for key in draw.sample(keys, 12):
            annotation = Annotation.objects.create(
                campaign=campaign,
                item_id=key.item_id,
                surrogate=one,
                answer={"label": 4, "way": ""},
                answer_version=1,
                state="late",
                submitted_at=now,
                seconds=9,
                published_id=f"{number}g{key.pk}",
                is_examined=True,
            )
            GoldCheck.objects.create(
                annotation=annotation, key=key, campaign=campaign, surrogate=one, is_hit=draw.random() < 0.9, at=now
            )


def pages(campaign: Campaign) -> None:
    """Print the milliseconds of each page of the desk, the best of five."""
    call_command("collectstatic", verbosity=0, interactive=False)
    boss, client = (
        User.objects.create_user("boss@example.org", "long enough secret", name="Boss", is_admin=True),
        Client(SERVER_NAME="localhost"),
    )
    client.force_login(boss)
    person = Participation.objects.filter(campaign=campaign).first()
    base = f"/campaigns/{campaign.slug}/"
    for path in (
        "summary/",
        "gold/",
        "experts/",
        "policy/",
        "behavior/",
        "summary/charts/gold/",
        "summary/charts/confusion/",
        f"annotators/{person.surrogate_id}/",
        "review/",
        "spot-checks/",
        "members/",
        "",
    ):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            assert client.get(base + path).status_code == 200, path
            times.append(time.perf_counter() - begun)
        print(f"{1000 * min(times):7.1f} ms  {path.replace(str(person.surrogate_id), 'PERSON')}", flush=True)


def main() -> None:
    """Make the campaign and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=34_011)
    parser.add_argument("--people", type=int, default=577)
    parser.add_argument("--judgments", type=int, default=148_252)
    options = parser.parse_args()
    campaign = campaign_of(options.pairs)
    judge(campaign, options.people, options.judgments)
    print(Item.objects.count(), "items", Annotation.objects.count(), "annotations", flush=True)
    measured("numbers of annotation", lambda: numbers_refresh(campaign=campaign, now=timezone.now()))
    for times in ("first", "second"):
        measured(f"numbers of quality, {times}", lambda: quality_numbers_refresh(campaign=campaign, now=timezone.now()))
    measured("behaviour", lambda: behaviour_refresh(campaign=campaign, now=timezone.now()))
    pages(campaign)


if __name__ == "__main__":
    main()
