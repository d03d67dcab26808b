"""Records of other tools as rows and judgments: Label Studio, a datasets folder, tables."""

import json
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from measures.judgment_files import judgments_read
from tests import factories
from tests.sources.files import lines, rows, step

TASKS = [
    {
        "id": 7,
        "data": {"q": "How do I peel an egg?", "a": "Under water."},
        "annotations": [
            {
                "completed_by": 3,
                "result": [
                    {"from_name": "rel", "type": "choices", "value": {"choices": ["good"]}},
                    {"from_name": "sure", "type": "rating", "value": {"rating": 4}},
                ],
            },
            {
                "completed_by": {"id": 5, "email": "e@example.org"},
                "result": [{"from_name": "rel", "type": "choices", "value": {"choices": ["bad, really"]}}],
            },
            {
                "completed_by": 9,
                "was_cancelled": True,
                "result": [{"from_name": "rel", "type": "choices", "value": {"choices": ["good"]}}],
            },
        ],
    },
    {"id": 8, "data": {"q": "How do I boil an egg?", "a": "In a pan."}, "annotations": []},
]
MAP = ("--map", "id=id", "--map", "question=data.q", "--map", "answer=data.a")


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(TASKS))
    return path


def test_label_studios_export_becomes_rows_and_judgments(export, tmp_path):
    report = step("elsewhere", export, *MAP, "--from", "label-studio", "--name", "rel", "--to", tmp_path / "to")
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
    report = step(
        "elsewhere",
        tmp_path / "train.parquet",
        "--map",
        "id=id",
        "--map",
        "question=text",
        "--worker",
        "who",
        "--label",
        "label",
        "--to",
        tmp_path / "to",
    )
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
        (["--map", "a=id", "--worker", "id", "--label", "data"], "isn't a label"),
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


def task(number, *annotations, name="annotations", **more):
    """Return a task of Label Studio with annotations of (author, results, other fields)."""
    made = [{"completed_by": who, "result": results, **fields} for who, results, fields in annotations]
    return {"id": number, "data": {"q": f"question {number}"}, name: made, **more}


def result(kind, value, name="relevance"):
    return {"from_name": name, "to_name": "t", "type": kind, "value": value}


GOOD, BAD = result("choices", {"choices": ["good"]}), result("choices", {"choices": ["bad"]})


def labels(tmp_path, tasks, *arguments, ids="id"):
    """Run the step on an export; return its report, and the judgments and known answers that it wrote."""
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    to = Path(mkdtemp(dir=tmp_path)) / "to"
    report = step(
        "elsewhere",
        path,
        "--map",
        f"id={ids}",
        "--map",
        "question=data.q",
        "--from",
        "label-studio",
        *arguments,
        "--to",
        to,
    )
    read = [(to / name).read_text().splitlines()[1:] for name in ("judgments.csv", "truth.csv")]
    return report, *read


def test_several_questions_of_one_export_are_never_mixed(tmp_path):
    fluent = result("choices", {"choices": ["yes"]}, "fluency")
    tasks = [task(1, (1, [GOOD], {})), task(2, (1, [BAD, fluent], {}))]
    with pytest.raises(CommandError, match="choose one of these with --name: relevance, fluency"):
        labels(tmp_path, tasks)
    assert not list(tmp_path.glob("*/to"))
    assert labels(tmp_path, tasks, "--name", "fluency")[1] == ["2,1,yes"]


def test_ground_truth_is_an_answer_that_is_known_and_no_judgment(tmp_path):
    tasks = [task(1, (9, [GOOD], {"ground_truth": True}), (1, [BAD], {"ground_truth": False}), (2, [GOOD], {}))]
    report, judged, truths = labels(tmp_path, tasks)
    assert (judged, truths, report["truths"]) == (["1,1,bad", "1,2,good"], ["1,good"], 1)
    with pytest.raises(CommandError, match="row 1: ground_truth: 'bad', but 'good' before"):
        labels(tmp_path, [task(1, (9, [GOOD], {"ground_truth": True}), (9, [BAD], {"ground_truth": True}))])


def test_nobody_is_no_annotator_of_that_name(tmp_path):
    tasks = [task(1, (None, [GOOD], {}), (None, [BAD], {})), task(2, ({"id": 0}, [GOOD], {}))]
    with pytest.raises(CommandError, match="row 1: annotations: names nobody who made it; --pseudonyms"):
        labels(tmp_path, tasks)
    report, judged, _ = labels(tmp_path, tasks, "--pseudonyms")
    assert judged == ["1,unnamed-1,good", "1,unnamed-2,bad", "2,0,good"]
    assert report["pseudonyms"] == 2


def test_zero_is_an_id(tmp_path):
    tasks = [{**task(1, (1, [GOOD], {})), "idx": 0}, {**task(2, (1, [BAD], {})), "idx": 1}]
    assert labels(tmp_path, tasks, ids="idx")[1] == ["0,1,good", "1,1,bad"]


def test_old_exports_pairs_and_ratings_are_read_and_the_rest_is_counted_by_type(tmp_path):
    several = result("choices", {"choices": ["good", "bad"]})
    tasks = [
        task(1, (1, [GOOD], {}), name="completions"),
        task(2, (1, [result("pairwise", {"selected": "left"})], {})),
        task(3, (1, [result("rating", {"rating": 0})], {}), (2, [GOOD], {"was_cancelled": True})),
        task(4, (1, [result("textarea", {"text": ["why"]}), several, result("ranker", {"ranker": {}})], {})),
        task(5),
    ]
    report, judged, _ = labels(tmp_path, tasks)
    assert judged == ["1,1,good", "2,1,left", "3,1,0"]
    assert report["passed_over"] == {
        "skipped annotations": 1,
        "textarea": 1,
        "answers with several labels or none": 1,
        "ranker": 1,
    }
    out = StringIO()
    call_command(
        "source",
        "elsewhere",
        str(tmp_path / "export.json"),
        "--map",
        "id=id",
        "--from",
        "label-studio",
        "--to",
        str(tmp_path / "again"),
        stdout=out,
    )
    assert "passed over: 1 skipped annotations, 1 textarea" in out.getvalue()


@pytest.mark.parametrize("broken", [{"annotations": 7}, {"annotations": [7]}, {"annotations": [{"result": [7]}]}])
def test_an_export_in_another_form_is_refused_by_row(tmp_path, broken):
    with pytest.raises(CommandError, match=r"row 1: (annotations|result): isn't a list of records"):
        labels(tmp_path, [{"id": 1, "data": {"q": "q"}, **broken}])


def test_tables_keep_the_names_of_their_columns(tmp_path):
    (tmp_path / "x.csv").write_bytes("Frage Nr;Wer;Label\n7;Jörg;gut\n".encode("cp1252"))
    step(
        "elsewhere",
        tmp_path / "x.csv",
        "--map",
        "id=Frage Nr",
        "--worker",
        "Wer",
        "--label",
        "Label",
        "--encoding",
        "cp1252",
        "--to",
        tmp_path / "to",
    )
    assert (tmp_path / "to" / "judgments.csv").read_text() == "item,worker,label\n7,Jörg,gut\n"


@pytest.mark.django_db
def test_what_came_from_elsewhere_is_imported(export, tmp_path):
    pairs = ("--map", "question_id=id", "--map", "answer_id=id", "--map", "question=data.q", "--map", "answer=data.a")
    tasks = [{**task, "id": f"t{task['id']}"} for task in TASKS]
    export.write_text(json.dumps(tasks))
    step("elsewhere", export, *pairs, "--to", tmp_path / "to")
    campaign = factories.antique(items=0)
    factories.import_rows(campaign, rows(tmp_path / "to" / "rows.jsonl"))
    assert sorted(item.content["answer_text"] for item in campaign.items.all()) == ["In a pan.", "Under water."]
