"""Statements that are compiled once say and read what the ORM would have."""

from uuid import uuid4

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Guideline, Item
from database.statements import Insert, Save, Statement, Update
from database.transactions import NotInTransaction
from tests import factories

pytestmark = pytest.mark.django_db
SOLD = 'it\'s 100% "sold" \\ 天空'


@pytest.fixture
def campaign():
    return factories.campaign(items=3)


def items_of(campaign_id):
    rows = Item.objects.filter(campaign_id=campaign_id, state="active")
    return rows.select_related("campaign__scope", "batch", "tokenization__document").order_by("pk")


def by_hand(instance):
    """Return every stored value of an instance."""
    return {field.attname: getattr(instance, field.attname) for field in instance._meta.concrete_fields}


def test_plain_values_are_those_of_the_orm(campaign):
    statement = Statement(lambda campaign_id: items_of(campaign_id).values_list("pk", "state"), type(campaign.pk))
    assert statement.rows(campaign.pk) == list(items_of(campaign.pk).values_list("pk", "state"))
    assert statement.rows(uuid4()) == []


def test_instances_have_their_values_and_what_they_are_selected_with(campaign, django_assert_num_queries):
    statement = Statement(items_of, type(campaign.pk))
    expected = list(items_of(campaign.pk))
    with django_assert_num_queries(1):
        found = statement.instances(campaign.pk)
        for one, other in zip(found, expected, strict=True):
            assert by_hand(one) == by_hand(other)
            for path in ("campaign", "campaign.scope", "batch", "tokenization", "tokenization.document"):
                mine, theirs = one, other
                for name in path.split("."):
                    mine, theirs = getattr(mine, name), getattr(theirs, name)
                assert by_hand(mine) == by_hand(theirs)
            assert not one._state.adding
    assert statement.first(campaign.pk) == expected[0]
    assert statement.first(uuid4()) is None


def test_a_relation_without_a_row_is_none_and_asks_nothing(campaign, django_assert_num_queries):
    item = Item.objects.order_by("pk")[0]
    Item.objects.filter(pk=item.pk).update(tokenization=None)
    statement = Statement(lambda pk: Item.objects.filter(pk=pk).select_related("tokenization__document"), int)
    with django_assert_num_queries(1):
        assert statement.first(item.pk).tokenization is None


def test_an_update_changes_the_rows_and_counts_them(campaign):
    update = Update(lambda pk, text: (Item.objects.filter(pk=pk), {"external_id": text, "state": "retired"}), int, str)
    assert update.run(-1, SOLD) == 0
    item = Item.objects.order_by("pk")[0]
    assert update.run(item.pk, SOLD) == 1
    item.refresh_from_db()
    assert (item.external_id, item.state) == (SOLD, "retired")
    assert not Item.objects.exclude(pk=item.pk).filter(state="retired").exists()


def test_a_text_that_never_changes_is_written_out_as_the_database_reads_it(campaign):
    Item.objects.filter(pk=Item.objects.order_by("pk")[0].pk).update(external_id=SOLD)
    statement = Statement(
        lambda campaign_id: Item.objects.filter(campaign_id=campaign_id, external_id=SOLD).values_list("external_id"),
        type(campaign.pk),
    )
    assert statement.rows(campaign.pk) == [(SOLD,)]
    (compiled,) = statement._compiled.values()
    assert "sold" in compiled.sql


def test_an_insert_writes_the_row_that_the_orm_would(campaign):
    written = Guideline(campaign=campaign, version=7, body=SOLD, created_at=timezone.now())
    Insert(Guideline).run(written)
    stored = Guideline.objects.get(campaign=campaign, version=7)
    assert by_hand(written) == by_hand(stored)
    assert stored.body == SOLD
    assert not written._state.adding
    with pytest.raises(IntegrityError), transaction.atomic():
        Insert(Guideline).run(Guideline(campaign=campaign, version=7, body="", created_at=timezone.now()))


def test_an_insert_once_leaves_the_row_that_is_stored(campaign):
    once = Insert(Guideline, once=True)
    first, second = (
        Guideline(campaign=campaign, version=7, body=body, created_at=timezone.now()) for body in (SOLD, "")
    )
    with transaction.atomic():
        assert once.run(first)
        assert not once.run(second)
    assert Guideline.objects.get(campaign=campaign, version=7).body == SOLD
    assert (second.pk, second._state.adding) == (None, True)


def test_a_value_that_the_query_does_not_use_is_found_when_it_is_compiled(campaign):
    statement = Statement(lambda campaign_id, _forgotten: items_of(campaign_id), type(campaign.pk), int)
    with pytest.raises(AssertionError, match="a blank is not in the query"):
        statement.rows(campaign.pk, 1)


def test_it_is_compiled_once_for_each_kind_of_database(campaign):
    built = []
    statement = Statement(lambda campaign_id: built.append(1) or items_of(campaign_id), type(campaign.pk))
    for _ in range(3):
        statement.instances(campaign.pk)
    assert len(built) == 1
    assert list(statement._compiled) == [connection.vendor]


def test_a_number_that_no_row_can_hold_finds_nothing(campaign):
    statement = Statement(lambda pk: Item.objects.filter(pk=pk), int)
    for pk in (2**63, -(2**63) - 1, 10**30):
        assert statement.first(pk) is None
        assert not Item.objects.filter(pk=pk).exists()
    assert statement.first(2**63 - 1) is None


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_in_transactions_only():
    statement = Statement(lambda pk: Item.objects.select_for_update().filter(pk=pk), int)
    with transaction.atomic():
        assert statement.first(1) is None
    with pytest.raises(NotInTransaction):
        statement.first(1)


def test_a_save_writes_all_fields_or_those_that_are_named(campaign):
    item = Item.objects.select_related(None).order_by("pk")[0]
    item.external_id, item.content, item.tokenization_id = SOLD, {"a": [SOLD, 1.5, None]}, None
    Save(Item).run(item)
    assert by_hand(Item.objects.get(pk=item.pk)) == by_hand(item)
    item.external_id, item.state = "other", "retired"
    Save(Item, "state").run(item)
    stored = Item.objects.get(pk=item.pk)
    assert (stored.external_id, stored.state) == (SOLD, "retired")
    assert Item.objects.filter(state="retired").count() == 1
    item.pk += 1_000
    with pytest.raises(ObjectDoesNotExist):
        Save(Item, "state").run(item)
    with pytest.raises(AssertionError, match="Item lacks"):
        Save(Item, "stat")


@pytest.mark.postgresql
def test_the_server_prepares_a_statement_once_and_others_never(campaign):
    statement = Statement(lambda pk: Item.objects.filter(pk=pk).values_list("pk", "state"), int)
    for item in 3 * [Item.objects.first()]:
        assert statement.rows(item.pk) == list(Item.objects.filter(pk=item.pk).values_list("pk", "state"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE %s",
            ['%"state" FROM "annotation_item" WHERE%'],
        )
        assert cursor.fetchall() == [(3,)]
