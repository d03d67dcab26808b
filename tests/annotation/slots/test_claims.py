"""Assigning work: who gets what, and why not."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEvent
from annotation.campaigns.services.campaigns import NewSplit, campaign_move
from annotation.items.services.items import item_retire
from annotation.models import Assignment, Campaign, Participation, Slot
from annotation.slots.services.claims import Reason, slot_claim_next, slot_reserve_next
from annotation.slots.services.slots import items_extend
from annotation.slots.services.sweeps import assignments_expire
from annotation.work.services.submissions import assignment_skip
from tests import factories

pytestmark = pytest.mark.django_db


def reason(campaign, person, now):
    return slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now).reason


def test_every_item_goes_to_n_different_people(now):
    campaign = factories.campaign(n=3, items=4)
    people = [factories.annotator(campaign) for _ in range(4)]
    for person in people[:3]:
        seen = {factories.annotate(campaign, person).item_id for _ in range(4)}
        assert len(seen) == 4
        assert reason(campaign, person, now) in (Reason.ALL_SEEN, Reason.NOTHING_OPEN)
    assert reason(campaign, people[3], now) is Reason.NOTHING_OPEN


def test_asking_twice_gives_the_same_assignment(now):
    campaign = factories.campaign(items=3)
    person = factories.annotator(campaign)
    assert factories.claim(campaign, person).pk == factories.claim(campaign, person).pk


def test_nothing_is_given_without_consent_or_while_paused(now):
    campaign = factories.campaign(items=1)
    stranger = factories.user()
    assert reason(campaign, stranger, now) is Reason.CONSENT_NEEDED
    assert not Participation.objects.exists()
    person = factories.annotator(campaign)
    campaign_move(campaign=campaign, to="paused", actor_id=None, now=now)
    assert reason(campaign, person, now) is Reason.PAUSED


def test_a_quota_and_a_suspension_stop_the_work(now):
    campaign = factories.campaign(items=3, quota=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    factories.annotate(campaign, person)
    assert reason(campaign, person, now) is Reason.QUOTA_REACHED
    Participation.objects.create(campaign=campaign, surrogate=other.surrogate, standing="suspended")
    assert reason(campaign, other, now) is Reason.SUSPENDED


def test_when_all_is_held_the_time_to_try_again_is_given(now):
    campaign = factories.campaign(items=1)
    holder, other = factories.annotator(campaign), factories.annotator(campaign)
    held = factories.claim(campaign, holder)
    claim = slot_claim_next(campaign=campaign, surrogate_id=other.surrogate_id, now=now)
    assert (claim.reason, claim.try_again_at) == (Reason.ALL_HELD, held.deadline_at)


def test_what_expires_is_open_again_and_its_draft_returns_to_its_author(now):
    campaign = factories.campaign(items=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    first = factories.answer(factories.claim(campaign, person), box=0)
    assert assignments_expire(now) == 0
    assert assignments_expire(first.deadline_at + timedelta(seconds=1)) == 1
    again = factories.claim(campaign, person)
    assert again.pk != first.pk
    assert again.draft["long_answer"] == {"candidate_index": 0, "reason": ""}
    assert reason(campaign, other, now) is Reason.ALL_HELD


def test_someone_overdue_who_comes_back_before_the_sweep_goes_on(now):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    first = factories.claim(campaign, person)
    later = first.deadline_at + timedelta(minutes=1)
    claim = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=later)
    assert claim.assignment.pk == first.pk
    first.refresh_from_db()
    assert first.deadline_at == claim.assignment.deadline_at > later


def test_a_skipped_item_goes_to_someone_else(now):
    campaign = factories.campaign(items=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    claim = assignment_skip(
        assignment_id=assignment.pk, surrogate_id=person.surrogate_id, reason="offensive", note="", now=now
    )
    assert claim.reason is Reason.ALL_SEEN
    assert factories.claim(campaign, other).slot_id == assignment.slot_id
    assert Participation.objects.get(surrogate=person.surrogate).submitted == 0


def test_a_retired_item_is_not_given_out_and_keeps_what_was_submitted(now):
    campaign = factories.campaign(n=2, items=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    annotation = factories.annotate(campaign, person)
    held = factories.claim(campaign, other)
    assert item_retire(item=annotation.item, reason="broken page", actor_id=person.surrogate_id, now=now)
    held.refresh_from_db()
    assert held.state == "released"
    assert reason(campaign, other, now) is Reason.NOTHING_OPEN
    annotation.refresh_from_db()
    assert annotation.state == "counted"
    assert AuditEvent.objects.filter(action="item_retire").count() == 1


def test_extending_leaves_the_first_slots_and_reaches_people_who_were_past_them(now):
    campaign = factories.campaign(n=1, items=6)
    people = [factories.annotator(campaign) for _ in range(3)]
    for _ in range(6):
        factories.annotate(campaign, people[0])
    before = list(Slot.objects.order_by("pk").values())
    split = campaign.splits.get()
    assert items_extend(campaign=campaign, split=split, n=3, sample=4, seed=1, actor_id=None, now=now) == 4
    assert list(Slot.objects.filter(index=0).order_by("pk").values()) == before
    assert Slot.objects.filter(index__in=[1, 2]).count() == 8
    assert items_extend(campaign=campaign, split=split, n=3, sample=4, seed=1, actor_id=None, now=now) == 0
    for person in people[1:]:
        for _ in range(4):
            factories.annotate(campaign, person)
    assert reason(campaign, people[0], now) is Reason.NOTHING_OPEN


def test_an_extension_of_an_old_batch_reaches_people_who_are_in_a_later_one(now):
    campaign = factories.campaign(n=1, items=2)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    factories.annotate(campaign, other), factories.annotate(campaign, other)
    factories.import_questions(campaign, ["a later question"])
    factories.launch(campaign)
    factories.annotate(campaign, person)
    items_extend(campaign=campaign, split=campaign.splits.get(), n=2, sample=2, seed=1, actor_id=None, now=now)
    assert {factories.annotate(campaign, person).item.batch.ordinal for _ in range(2)} == {1}


def test_a_reservation_is_what_comes_next_and_lapses_when_it_is_not_shown(now):
    campaign = factories.campaign(items=3)
    person = factories.annotator(campaign)
    assert not slot_reserve_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    live = factories.claim(campaign, person)
    assert slot_reserve_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert slot_reserve_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    reserved = Assignment.objects.get(state="reserved")
    factories.submit(factories.answer(live))
    assert factories.claim(campaign, person).pk == reserved.pk
    assert slot_reserve_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert assignments_expire(now + timedelta(minutes=10)) == 1
    assert Slot.objects.filter(state="open").count() == 1


def test_a_reload_shows_the_same_item_and_leaves_its_deadline_even_while_the_campaign_is_paused(now):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    live = factories.claim(campaign, person)
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    campaign.refresh_from_db()
    again = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now + timedelta(minutes=2))
    assert (again.assignment.pk, again.assignment.deadline_at) == (live.pk, live.deadline_at)


def test_nothing_is_reserved_while_the_campaign_is_paused(now):
    campaign = factories.campaign(items=3)
    person = factories.annotator(campaign)
    factories.claim(campaign, person)
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    campaign.refresh_from_db()
    assert not slot_reserve_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert not Assignment.objects.filter(state="reserved").exists()


def test_someone_sent_back_in_the_queue_passes_over_what_they_have_seen_and_is_sent_back_once(now, look_ahead):
    look_ahead(4)
    campaign = factories.campaign(n=1, items=9)
    person = factories.annotator(campaign)
    for _ in range(9):
        factories.annotate(campaign, person)
    items_extend(campaign=campaign, split=campaign.splits.get(), n=2, sample=9, seed=1, actor_id=None, now=now)
    factories.import_questions(campaign, ["a later question"])
    factories.launch(campaign)
    claimed = factories.claim(campaign, person)
    assert claimed.item.content["question_text"] == "a later question"
    assert Slot.objects.filter(state="held").count() == 1
    place = Participation.objects.select_related("campaign").get(surrogate=person.surrogate_id)
    assert place.queue_version == place.campaign.queue_version


def test_slots_of_an_item_are_spread_over_the_queue():
    campaign = factories.campaign(n=5, items=40)
    order = list(Slot.objects.order_by("order_key").values_list("item_id", flat=True))
    neighbours = sum(left == right for left, right in zip(order, order[1:], strict=False))
    assert neighbours < 20  # by chance about five of 199
    assert campaign.slots.count() == 200


def test_the_same_seed_gives_the_same_splits_ids_and_order():
    plans = [NewSplit("train", 1, 8), NewSplit("dev", 5, 2)]
    seen = []
    for _ in range(2):
        campaign = factories.campaign(items=30, splits=plans, seed=11)
        rows = campaign.items.order_by("external_id").values_list("external_id", "split__name", "published_id")
        keys = campaign.slots.order_by("item__external_id", "index").values_list("order_key", flat=True)
        seen.append((list(rows), list(keys)))
    assert seen[0] == seen[1]
    assert {row[1] for row in seen[0][0]} == {"train", "dev"}


def test_new_ids_fit_64_bits_and_lie_apart_in_their_low_32(now):
    campaign = factories.campaign(items=60)
    ids = [int(item.published_id) for item in campaign.items.all()]
    assert all(-(2**63) <= number < 2**63 for number in ids)
    low = sorted(number & 0xFFFFFFFF for number in ids)
    assert min(right - left for left, right in zip(low, low[1:], strict=False)) >= 16_384


def test_a_claim_costs_the_same_queries_for_newcomers_and_veterans(now):
    campaign = factories.campaign(n=3, items=60)
    veteran, newcomer = factories.annotator(campaign), factories.annotator(campaign)
    for _ in range(40):
        factories.annotate(campaign, veteran)
    counts = []
    for person in (veteran, newcomer):
        version = Campaign.objects.get(pk=campaign.pk).queue_version
        Participation.objects.get_or_create(
            campaign=campaign, surrogate=person.surrogate, defaults={"queue_version": version}
        )
        with CaptureQueriesContext(connection) as queries:
            factories.claim(campaign, person)
        counts.append(len(queries))
    assert abs(counts[0] - counts[1]) <= 1
    assert max(counts) <= 21  # savepoints and the transaction included
