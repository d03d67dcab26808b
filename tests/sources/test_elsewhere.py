"""Records of other tools as rows and judgments: Label Studio, a datasets folder, tables."""

import json
from io import StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from quality.judgment_files import judgments_read
from tests import factories
from tests.sources.files import lines, rows, step

TASKS = [
    {"id": 7, "data": {"q": "How do I peel an egg?", "a": "Under water."}, "annotations": [
        {"completed_by": 3, "result": [{"from_name": "rel", "type": "choices", "value": {"choices": ["good"]}}, {"from_name": "sure", "type": "rating", "value": {"rating": 4}}]},
        {"completed_by": {"id": 5, "email": "e@example.org"}, "result": [{"from_name": "rel", "type": "choices", "value": {"choices": ["bad, really"]}}]},
        {"completed_by": 9, "was_cancelled": True, "result": [{"from_name": "rel", "type": "choices", "value": {"choices": ["good"]}}]},
    ]},
    {"id": 8, "data": {"q": "How do I boil an egg?", "a": "In a pan."}, "annotations": []},
]  # fmt: skip
MAP = ("--map", "id=id", "--map", "question=data.q", "--map", "answer=data.a")


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(TASKS))
    return path


def test_label_studios_export_becomes_rows_and_judgments(export, tmp_path):
    report = step("elsewhere", export, *MAP, "--label-studio", "--name", "rel", "--to", tmp_path / "to")
    assert (report["read"], report["rows"], report["judgments"]) == (2, 2, 2)
    first, second = rows(tmp_path / "to" / "rows.jsonl")
    assert (first["id"], first["question"], second["answer"]) == ("7", "How do I peel an egg?", "In a pan.")
    assert first["origin"]["file"] == "export.json"
    text = (tmp_path / "to" / "judgments.csv").read_text()
    assert text == 'item,worker,label\n7,3,good\n7,e@example.org,"bad, really"\n'
    assert len(judgments_read(tmp_path / "to" / "judgments.csv").judgments) == 2  # as crowd_report reads them


def test_a_datasets_folder_becomes_rows(tmp_path):
    pq.write_table(
        pa.table({"id": ["a", "b", "b"], "text": ["one", "two", "two"], "who": [1, 1, 2], "label": [3, 4, 4]}),
        tmp_path / "train.parquet",
    )
    report = step("elsewhere", tmp_path / "train.parquet", "--map", "id=id", "--map", "question=text", "--worker", "who", "--label", "label", "--to", tmp_path / "to")  # fmt: skip
    assert (report["read"], report["rows"], report["again"], report["judgments"]) == (3, 2, 1, 3)
    assert [row["question"] for row in rows(tmp_path / "to" / "rows.jsonl")] == ["one", "two"]


def test_the_mapping_is_shown_before_anything_is_written(export, tmp_path):
    out = StringIO()
    call_command("source", "elsewhere", str(export), *MAP, "--show", "--to", str(tmp_path / "to"), stdout=out)
    assert "data.q: 'How do I peel an egg?'" in out.getvalue()
    assert "question <- data.q: 'How do I peel an egg?'" in out.getvalue()
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ([], "say with --map"),
        (["--map", "question"], "expected column=path"),
        (["--map", "a=id", "--map", "a=id"], "named twice"),
        (["--map", "a=data.none"], "row 1: data.none: is missing"),
        (["--map", "a=id", "--label", "id"], "judgments have --worker and --label"),
        (["--map", "a=id", "--worker", "id", "--label", "data"], "is no label"),
    ],
)
def test_what_cannot_be_mapped_is_said(export, tmp_path, arguments, match):
    with pytest.raises(CommandError, match=match):
        step("elsewhere", export, *arguments, "--to", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_one_id_with_other_columns_is_refused(tmp_path):
    file = lines(tmp_path / "rows.jsonl", [{"id": "a", "t": "x"}, {"id": "a", "t": "y"}])
    with pytest.raises(CommandError, match="row 2: id: a stands in an earlier row"):
        step("elsewhere", file, "--map", "id=id", "--map", "question=t", "--to", tmp_path / "to")


def test_damaged_parquet_is_named(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(CommandError, match=r"x\.parquet"):
        step("elsewhere", tmp_path / "x.parquet", "--map", "a=b", "--to", tmp_path / "to")


@pytest.mark.django_db
def test_what_came_from_elsewhere_is_imported(export, tmp_path):
    pairs = ("--map", "question_id=id", "--map", "answer_id=id", "--map", "question=data.q", "--map", "answer=data.a")
    tasks = [{**task, "id": f"t{task['id']}"} for task in TASKS]
    export.write_text(json.dumps(tasks))
    step("elsewhere", export, *pairs, "--to", tmp_path / "to")
    campaign = factories.antique(items=0)
    factories.import_rows(campaign, rows(tmp_path / "to" / "rows.jsonl"))
    assert sorted(item.content["answer_text"] for item in campaign.items.all()) == ["In a pan.", "Under water."]
