"""Rows inserted without a model instance are what the ORM would have written."""

import json

import pytest
from django.utils import timezone

from annotation.items.services import item_checks
from annotation.items.services.item_checks import Checked, checked_rows
from annotation.models import Item, Slot
from annotation.tasktypes.registry import TASK_TYPES
from database.bulk import rows_insert
from storage.tables.faults import RowError
from tests import factories

pytestmark = pytest.mark.django_db


def test_rows_are_what_the_orm_writes():
    campaign = factories.antique(items=1)
    model = Item.objects.get()
    content = {"text": '½ \u4e2d "quoted" \\ tab\t', "number": 1.5, "none": None}
    same = {"campaign_id": campaign.pk, "batch_id": model.batch_id, "created_at": timezone.now()}
    columns = ("external_id", "published_id", "content", "content_sha256", "tokenization_id", "split_id", "n", "votes")
    rows = [(f"x{n}", str(n), json.dumps(content), str(n), None, model.split_id, 3, 3) for n in range(3)]
    rows_insert(Item, columns, rows, same=same)
    made = Item.objects.get(external_id="x1")
    own = Item.objects.create(
        external_id="own",
        published_id="9",
        content=content,
        content_sha256="9",
        split_id=model.split_id,
        n=3,
        votes=3,
        **same,
    )
    own.refresh_from_db()
    differing = {"id", "external_id", "published_id", "content_sha256"}
    for field in Item._meta.concrete_fields:
        if field.name not in differing:
            assert getattr(made, field.attname) == getattr(own, field.attname), field.name
    rows_insert(Item, columns, [], same=same)


def test_a_row_that_is_there_already_is_left_as_it_is():
    campaign = factories.antique(items=1, n=1)
    slot = Slot.objects.get()
    Slot.objects.update(state="held")
    rows = [(5, slot.item_id, 1, 0), (6, slot.item_id, 1, 1)]
    columns = ("order_key", "item_id", "round", "index")
    rows_insert(Slot, columns, rows, same={"campaign_id": campaign.pk}, ignore_conflicts=True)
    assert list(Slot.objects.order_by("index").values_list("state", "order_key")) == [
        ("held", slot.order_key),
        ("open", 6),
    ]


def test_one_id_is_one_text_in_a_file_and_in_a_campaign(monkeypatch):
    """Else the pairs are judged and paid for, and no release can hold both texts."""
    monkeypatch.setattr(item_checks, "CHUNK", 2)
    campaign = factories.antique(items=1)
    there = campaign.items.get(batch__purpose="work").content
    pair = {**factories.pairs(1, prefix="7")[0], "possibly_correct_id": "7_9", "possibly_correct_answer": "The best."}
    rows = [
        pair,
        {**pair, "answer_id": "7_8", "question": "Another question?"},
        {**pair, "question_id": "9", "answer": "Another text"},
        {**pair, "answer_id": "7_7", "possibly_correct_answer": "Another best."},
        {**pair, "question_id": "8", "answer_id": "7_9", "answer": "Not the best.", "possibly_correct_id": ""},
        {**pair, "question_id": "8", "question": "Another question?"},
        {
            **pair,
            "question_id": "8",
            "question": "Another question?",
            "answer_id": there["answer_id"],
            "answer": "Yet another",
        },
    ]
    chunks = checked_rows(campaign, TASK_TYPES["antique"], enumerate(rows, start=1))
    found = {number: outcome for chunk in chunks for number, outcome in chunk}
    assert [number for number, outcome in found.items() if isinstance(outcome, Checked)] == [1, 6]
    wrong = {number: (one.column, str(one)) for number, one in found.items() if isinstance(one, RowError)}
    assert wrong == {
        2: (
            "question",
            f"{pair['question_id']} has another text in row 1: each id stands for one text in the campaign",
        ),
        3: ("answer", f"{pair['answer_id']} has another text in row 1: each id stands for one text in the campaign"),
        4: ("possibly_correct_answer", "7_9 has another text in row 1: each id stands for one text in the campaign"),
        5: ("answer", "7_9 has another text in row 1: each id stands for one text in the campaign"),
        7: (
            "answer",
            f"{there['answer_id']} has another text in this campaign: each id stands for one text in the campaign",
        ),
    }


def test_the_text_of_a_retired_item_stands_in_the_way_of_no_other():
    campaign = factories.antique(items=1)
    [pair] = factories.pairs(1)
    corrected = {**pair, "question_id": "other", "answer": "What it should have said."}
    [[(_, refused)]] = checked_rows(campaign, TASK_TYPES["antique"], [(1, corrected)])
    assert isinstance(refused, RowError)
    campaign.items.update(state="retired")
    [[(_, taken)]] = checked_rows(campaign, TASK_TYPES["antique"], [(1, corrected)])
    assert isinstance(taken, Checked)


def test_what_a_row_repeats_is_found_in_whichever_chunk_it_stood(monkeypatch):
    monkeypatch.setattr(item_checks, "CHUNK", 2)
    campaign = factories.antique(items=1)
    pairs = factories.pairs(5, prefix="7")
    rows = enumerate([*pairs[:4], pairs[1], {**pairs[0], "answer": "another"}, pairs[4]], start=1)
    found = dict(outcome for chunk in checked_rows(campaign, TASK_TYPES["antique"], rows) for outcome in chunk)
    assert [number for number, outcome in found.items() if isinstance(outcome, Checked)] == [1, 2, 3, 4, 7]
    assert {number: str(outcome) for number, outcome in found.items() if isinstance(outcome, RowError)} == {
        5: "the same stands in row 2",
        6: "the same stands in row 1",
    }
