"""What was found by thinking of the crash between any two lines."""

import json

import pytest
from django.utils import timezone

from annotation.items.services import item_checks
from annotation.items.services import items as items_service
from annotation.items.services.items import item_retire
from annotation.models import Batch, Item, Participation, Slot
from annotation.people.services.withdrawal import participation_withdraw
from annotation.slots.services.claims import Reason, slot_claim_next
from annotation.slots.services.exclusions import annotation_exclude
from jobs.models import Job
from jobs.services import job_enqueue, job_run
from tests import factories

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


def resume(job):
    Job.objects.filter(pk=job.pk).update(state="running", lease_until=timezone.now() - timezone.timedelta(seconds=1))
    assert job_run(job_id=job.pk)
    job.refresh_from_db()
    return job


def test_an_import_that_was_killed_goes_on_with_every_row(monkeypatch, tmp_path, now):
    campaign = factories.campaign()
    rows = [{"id": str(n), "question": f"question {n}", "document": "harbour.html"} for n in range(1200)]
    path = factories.write(tmp_path / "rows.jsonl", rows)
    payload = {
        "campaign": str(campaign.pk),
        "path": str(path),
        "name": path.name,
        "pilot": False,
        "good_rows_only": False,
    }
    job = job_enqueue(kind="annotation.import_items", payload=payload, now=now)
    monkeypatch.setattr(item_checks, "CHUNK", 500)
    write, calls = items_service._write, []

    def killed_in_the_second_chunk(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise Killed
        write(*args, **options)

    monkeypatch.setattr(items_service, "_write", killed_in_the_second_chunk)
    with pytest.raises(Killed):
        job_run(job_id=job.pk)
    assert Item.objects.count() == 500
    job = resume(job)
    assert (job.state, job.result["imported"], job.result["unchanged"]) == ("done", 1200, 0)
    assert Item.objects.count() == 1200


@pytest.mark.shared
def test_a_published_import_that_was_killed_goes_on(monkeypatch, shared, tmp_path, now):
    from annotation.items.services import published

    record = json.loads((shared / "nq-original/trade-winds.json").read_text())
    second = {
        **record,
        "example_id": 7,
        "question_text": "another question",
        "annotations": [{**record["annotations"][3], "annotation_id": 9}],
    }
    path = factories.write(tmp_path / "nq.jsonl", [record, second])
    campaign = factories.campaign()
    payload = {"campaign": str(campaign.pk), "path": str(path), "name": path.name, "with_annotations": True}
    job = job_enqueue(kind="annotation.import_nq", payload=payload, now=now)
    store, calls = published.page_store, []

    def killed_at_the_second(page):
        calls.append(1)
        if len(calls) == 2:
            raise Killed
        return store(page)

    monkeypatch.setattr(published, "page_store", killed_at_the_second)
    with pytest.raises(Killed):
        job_run(job_id=job.pk)
    job = resume(job)
    assert (job.state, job.error, job.result["examples"], job.result["annotations"]) == ("done", "", 2, 6)
    assert campaign.annotations.values("surrogate").distinct().count() == 5


def test_a_batch_launched_after_a_later_one_reaches_people_who_are_past_it(now, look_ahead):
    look_ahead(16)
    campaign = factories.campaign(n=2)
    factories.import_questions(campaign, [f"main question {n}" for n in range(20)])
    factories.import_questions(campaign, ["pilot question"], pilot=True)
    main, pilot = Batch.objects.order_by("ordinal")
    assert (main.purpose, pilot.purpose) == ("work", "pilot")
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    Batch.objects.filter(pk=main.pk).update(state="closed")
    factories.launch(campaign)
    for person in (first, second):
        factories.annotate(campaign, person, label="bad")
    Batch.objects.filter(pk=main.pk).update(state="draft")
    factories.launch(campaign)
    for person in (first, second):
        for _ in range(20):
            factories.annotate(campaign, person, label="bad")
    assert Slot.objects.filter(state="filled").count() == 42


def test_nothing_of_a_batch_is_handed_out_before_it_is_open(now):
    campaign = factories.campaign(items=1)
    Batch.objects.update(state="draft")
    person = factories.annotator(campaign)
    assert slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now).assignment is None


def test_excluding_work_on_a_retired_item_does_not_hand_it_out_again(now):
    campaign = factories.campaign(items=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    annotation = factories.annotate(campaign, person)
    item_retire(item=annotation.item, reason="broken", actor_id=person.surrogate_id, now=now)
    annotation_exclude(annotation=annotation, because="excluded", actor_id=None, now=now)
    assert slot_claim_next(campaign=campaign, surrogate_id=other.surrogate_id, now=now).reason is Reason.NOTHING_OPEN


def test_leaving_does_not_lift_a_suspension(now):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    Participation.objects.create(campaign=campaign, surrogate=person.surrogate, standing="suspended")
    participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert Participation.objects.get().standing == "suspended"
    assert not person.memberships.exists()


def test_many_reopened_slots_that_someone_has_seen_cost_them_one_look(now, look_ahead, django_assert_max_num_queries):
    look_ahead(16)
    campaign = factories.campaign(n=1, items=60)
    person = factories.annotator(campaign)
    for _ in range(60):
        annotation = factories.annotate(campaign, person, label="bad")
        annotation_exclude(annotation=annotation, because="excluded", actor_id=None, now=now)
    with django_assert_max_num_queries(16):
        assert slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now).assignment is None
