"""What an answer costs the database: statements, never time."""

from itertools import product
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Batch, BatchState, Item, ItemState, Slot, SlotState
from annotation.slots.services import claims
from annotation.slots.services.counting import slot_hold_first
from database.statements import Insert, Statement, Update
from quality.experts.selectors import case_next
from tests import factories

pytestmark = pytest.mark.django_db


def statements(queries):
    """Return the statements of a request, without those that begin and end transactions."""
    frame = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
    return [query["sql"] for query in queries if not query["sql"].lstrip().startswith(frame)]


def answered(client, person):
    assignment = Assignment.objects.get(surrogate=person.surrogate_id, state="live")
    sent = {"stage": "relevance", "label": "3", "version": assignment.draft_version}
    with CaptureQueriesContext(connection) as queries:
        answer = client.post(reverse("stage", args=[assignment.pk]), sent, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return statements(queries)


def test_an_answer_and_the_next_item_take_sixteen_statements(client):
    campaign = factories.antique(items=8, n=1)
    person = factories.annotator(campaign)
    client.force_login(person)
    client.post(reverse("work", args=[campaign.slug]), headers={"HX-Request": "true"})
    assert [len(answered(client, person)) for _ in range(5)] == [16] * 5
    client.post(reverse("reserve", args=[campaign.slug]))
    assert len(answered(client, person)) <= 13  # what was reserved is begun


def test_the_statement_that_takes_a_slot_agrees_with_the_models():
    campaign = factories.antique(items=2, n=3)
    for slot_state, item_state, batch_state in product(SlotState, ItemState, BatchState):
        Slot.objects.filter(campaign=campaign).update(state=SlotState.OPEN)
        Batch.objects.filter(campaign=campaign).update(state=batch_state)
        first = Slot.objects.filter(campaign=campaign).order_by("order_key", "pk")[0]
        Slot.objects.filter(pk=first.pk).update(state=slot_state)
        Item.objects.filter(campaign=campaign).update(state=ItemState.ACTIVE)
        Item.objects.filter(pk=first.item_id).update(state=item_state)
        free = Slot.objects.filter(
            campaign=campaign, state=SlotState.OPEN, item__state=ItemState.ACTIVE, item__batch__state=BatchState.OPEN
        )
        expected = free.order_by("order_key", "pk").values_list("pk", "item_id", "order_key").first()
        everyone = list(Slot.objects.filter(campaign=campaign).values_list("pk", flat=True))
        assert slot_hold_first(slot_ids=everyone) == expected
        assert expected is None or Slot.objects.get(pk=expected[0]).state == SlotState.HELD
    assert slot_hold_first(slot_ids=[]) is None


def test_a_statement_takes_what_the_models_take_and_finds_the_same():
    campaign = factories.antique(items=1)
    slot_ids = Statement(
        lambda pk, least: Slot.objects.filter(campaign_id=pk, id__gt=least).values_list("id"), UUID, int
    )
    expected = list(Slot.objects.filter(campaign=campaign).values_list("id"))
    assert expected
    for key in (campaign.pk, str(campaign.pk), campaign.pk.hex):
        assert sorted(slot_ids.rows(key, 0)) == sorted(expected)
    assert slot_ids.rows(uuid4(), 0) == slot_ids.rows(campaign.pk, max(expected)[0]) == []
    with pytest.raises(AssertionError, match="not in the query"):
        Statement(lambda pk: Slot.objects.values_list("id"), UUID).rows(campaign.pk)


def test_an_update_changes_what_the_models_change_and_counts_it():
    campaign = factories.antique(items=3)
    slots = Slot.objects.filter(campaign=campaign).order_by("pk")
    moved = Update(
        lambda pk, key: (
            Slot.objects.filter(campaign_id=pk, order_key__gte=0),
            {"order_key": key, "state": SlotState.CLOSED, "item_id": F("item_id") + 0},
        ),
        UUID,
        int,
    )
    before = list(slots.values_list("item", flat=True))
    assert (moved.run(campaign.pk, 77), moved.run(uuid4(), 78)) == (len(before), 0)
    assert list(slots.values_list("order_key", "state", "item")) == [(77, "closed", item) for item in before]


def test_an_insert_writes_the_row_that_a_model_writes():
    row = factories.antique(items=1).items.get()
    own = ("id", "external_id", "published_id", "content_sha256")
    written = []
    for name, insert in (("1", Insert(Item).run), ("2", Item.save)):
        row.pk, row.external_id, row.published_id, row.content_sha256 = None, name, name, name * 64
        row._state.adding = True
        insert(row)
        assert (row._state.adding, row._state.db) == (False, "default")
        found = Item.objects.filter(pk=row.pk).values().get()
        written.append({name: value for name, value in found.items() if name not in own})
    assert written[0] == written[1]


def test_what_never_changes_in_a_statement_is_written_out():
    campaign = factories.antique(items=1)
    odd = "100 %s of it's \\ text"
    Item.objects.filter(campaign=campaign).update(external_id=odd)
    named = Statement(
        lambda pk: Item.objects.filter(campaign_id=pk, external_id=odd, batch__id__gte=0).values_list("external_id")[
            :5
        ],
        UUID,
    )
    assert named.rows(campaign.pk) == [(odd,)]
    assert len(named._compiled[connection.vendor].wanted) == 1


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL plans by what is in the tables")
def test_what_a_claim_asks_is_found_without_all_that_a_person_ever_did():
    """With a parameter for a state, SQLite plans again each time; with several states at once it takes no partial index."""
    campaign = factories.antique(items=1)
    for asked in (claims._HELD, claims._ELIGIBILITY):
        asked.rows(campaign.pk, campaign.pk)
        made = asked._compiled[connection.vendor]
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {made.sql}", [campaign.pk.hex] * len(made.wanted))
            plan = " ".join(str(row[-1]) for row in cursor.fetchall())
        assert "assignment_seen" not in plan and "SCAN annotation" not in plan, plan


def test_neither_a_claim_nor_the_next_case_lists_all_that_a_person_ever_did():
    """To leave such a list out, PostgreSQL read every slot of the campaign, at every claim of a visit."""
    campaign = factories.campaign(items=3)
    person = factories.annotator(campaign)
    factories.annotate(campaign, person, box=0, kind="yes")
    with CaptureQueriesContext(connection) as queries:
        claim = claims.slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
        case_next(campaign=campaign, surrogate_id=person.surrogate_id)
    asked = " ".join(statements(queries))
    assert claim.assignment is not None
    assert all(f'FROM "{table}"' in asked for table in ("annotation_injection", "quality_case"))
    assert "IN (SELECT" not in asked


def test_a_statement_makes_the_models_that_the_orm_makes():
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    done = factories.annotate(campaign, person, box=0, kind="yes").assignment_id
    live = factories.claim(campaign, person).pk
    kept = Statement(
        lambda pk: Assignment.objects.filter(pk=pk).select_related("item__tokenization__document", "annotation"), UUID
    )
    for pk in (done, live):
        own = Assignment.objects.select_related("item__tokenization__document", "annotation").get(pk=pk)
        made = kept.first(pk)
        pairs = [(made, own), (made.item, own.item), (made.item.tokenization, own.item.tokenization)]
        pairs.append((made.item.tokenization.document, own.item.tokenization.document))
        if pk == done:
            pairs.append((made.annotation, own.annotation))
        with CaptureQueriesContext(connection) as queries:
            assert hasattr(made, "annotation") is (pk == done)
            for one, other in pairs:
                for field in other._meta.concrete_fields:
                    assert getattr(one, field.attname) == getattr(other, field.attname), field
        assert not queries.captured_queries
    assert kept.first(uuid4()) is None
    named = Statement(lambda name: Item.objects.filter(external_id=name), str)
    assert named.instances(own.item.external_id) == [own.item]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans without statistics")
def test_a_launch_tells_the_database_what_is_in_its_tables():
    factories.antique(items=5)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reltuples FROM pg_class WHERE relname IN ('annotation_item', 'annotation_slot')"
        )
        assert dict(cursor.fetchall()) == {
            "annotation_item": Item.objects.count(),
            "annotation_slot": Slot.objects.count(),
        }
