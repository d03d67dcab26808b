"""Exports of other tools and marketplaces, in the shapes that they write: shown first, then read."""

import doctest
import json
from io import StringIO

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from measures.judgment_files import judgments_read, truths_read
from sources.rules import mapping
from tests.sources.files import step


def read(path, tool, *arguments):
    """Return the report of the step, the judgments and the known answers."""
    to = path.parent / f"made-{len(list(path.parent.iterdir()))}"
    report = step("elsewhere", path, "--from", tool, *arguments, "--to", to)
    return report, *((to / name).read_text().splitlines()[1:] for name in ("judgments.csv", "truth.csv"))


def shown(path, tool, *arguments):
    out = StringIO()
    call_command(
        "source",
        "elsewhere",
        str(path),
        "--from",
        tool,
        *arguments,
        "--show",
        "--to",
        str(path.parent / "never"),
        stdout=out,
    )
    assert not (path.parent / "never").exists()
    return out.getvalue()


ARGILLA = [
    {
        "id": "r1",
        "fields": {"text": "one"},
        "metadata": {},
        "suggestions": {},
        "vectors": {},
        "status": "completed",
        "responses": {
            "label": [{"value": "good", "user_id": "u1"}, {"value": "bad", "user_id": "u2"}],
            "why": [{"value": "since", "user_id": "u1"}],
        },
    },
    {
        "id": "r2",
        "fields": {"text": "two"},
        "responses": {
            "label": [
                {"value": ["good", "bad"], "user_id": "u1"},
                {"value": "bad", "user_id": "u3", "status": "discarded"},
            ]
        },
    },
]
ARGILLA_BEFORE = [
    {
        "fields": {"text": "one"},
        "external_id": "r1",
        "responses": [
            {"user_id": "u1", "status": "submitted", "values": {"label": {"value": "good"}}},
            {"user_id": "u2", "status": "submitted", "values": {"label": {"value": "bad"}}},
            {"user_id": "u3", "status": "discarded", "values": {"label": {"value": "bad"}}},
        ],
    },
    {"fields": {"text": "two"}, "external_id": "r2", "responses": []},
]


def test_argilla_answers_are_read_by_question(tmp_path):
    path = tmp_path / "records.json"
    path.write_text(json.dumps(ARGILLA))
    with pytest.raises(CommandError, match="choose one of these with --name: label, why"):
        read(path, "argilla")
    assert "of the questions label, why" in shown(path, "argilla", "--name", "label")
    report, judged, _ = read(path, "argilla", "--name", "label", "--map", "question=fields.text")
    assert judged == ["r1,u1,good", "r1,u2,bad"]
    assert report["passed_over"] == {"answers with several labels or none": 1, "skipped annotations": 1}


def test_argilla_s_older_records_and_its_datasets_say_the_same(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps(ARGILLA_BEFORE))
    table = pd.DataFrame(
        {
            "id": ["r1", "r2"],
            "text": ["one", "two"],
            "label.responses": [["good", "bad", "bad"], None],
            "label.responses.users": [["u1", "u2", "u3"], None],
            "label.responses.status": [["submitted", "submitted", "discarded"], None],
        }
    )
    table.to_parquet(tmp_path / "train.parquet")
    for name in ("old.json", "train.parquet"):
        report, judged, _ = read(tmp_path / name, "argilla")
        assert judged == ["r1,u1,good", "r1,u2,bad"]
        assert report["passed_over"] == {"skipped annotations": 1}


def test_doccano_names_annotators_by_file_or_by_user(tmp_path):
    own = tmp_path / "anna.jsonl"
    own.write_text(
        '{"id": 1, "text": "one", "label": ["good"], "Comments": []}\n{"id": 2, "text": "two", "label": [[0, 3, "PER"]]}\n{"id": 3, "text": "three", "label": []}\n'
    )
    assert "anna: good" in shown(own, "doccano")
    report, judged, _ = read(own, "doccano", "--map", "question=text")
    assert (judged, report["passed_over"]) == (["1,anna,good"], {"spans": 1, "answers with several labels or none": 1})
    old = tmp_path / "project.jsonl"
    old.write_text(
        '{"id": 1, "text": "one", "annotations": [{"label": 3, "user": 1}, {"label": 4, "user": 2}], "meta": {}}\n{"doc_id": 2, "text": "two", "labels": ["good"], "username": "bo"}\n'
    )
    assert read(old, "doccano")[1] == ["1,1,3", "1,2,4", "2,bo,good"]
    everybody = tmp_path / "all.jsonl"
    everybody.write_text('{"id": 1, "text": "one", "label": ["good"]}\n')
    with pytest.raises(CommandError, match="names nobody who made it; --pseudonyms"):
        read(everybody, "doccano")


MTURK = "HITId,HITTypeId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.id,Input.text"


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("Answer.relevance", ["3", "2", "1"]),
        (
            "Answer.relevance.1,Answer.relevance.2,Answer.relevance.3",
            ["false,false,true", "false,true,false", "true,false,false"],
        ),
        (
            "Answer.taskAnswers",
            ['"[{""relevance"":{""1"":false,""3"":true}}]"', '"[{""relevance"":""2""}]"', '"[{""relevance"":""1""}]"'],
        ),
    ],
)
def test_results_of_mechanical_turk_in_all_forms_of_their_header(tmp_path, columns, rows):
    path = tmp_path / "Batch_42_batch_results.csv"
    people = [("h1", "A1", "Approved"), ("h1", "A2", "Submitted"), ("h1", "A3", "Rejected")]
    lines = [f"{MTURK},{columns}"] + [
        f'{hit},T,{who},{state},12,17,"a text, with comma",{answer}'
        for (hit, who, state), answer in zip(people, rows, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    assert "A1: 3" in shown(path, "mturk")
    report, judged, _ = read(path, "mturk", "--map", "question=Input.text", "--map", "id=Input.id")
    assert (judged, report["passed_over"], report["rows"]) == (["17,A1,3", "17,A2,2"], {"rejected assignments": 1}, 1)
    assert read(path, "mturk")[1] == ["h1,A1,3", "h1,A2,2"]


def test_the_real_header_of_a_results_file_is_understood(shared, tmp_path):
    [names] = json.loads((shared / "mturk" / "header_example.json").read_text()).values()
    row = dict.fromkeys(names, "") | {"HITId": "h", "WorkerId": "A1", "AssignmentStatus": "Approved"}
    answers = [name for name in names if name.startswith("Answer.")]
    assert answers
    row[answers[0]] = "yes"
    pd.DataFrame([row]).to_csv(tmp_path / "x.csv", index=False)
    question = answers[0].removeprefix("Answer.").partition(".")[0]
    assert question in shown(tmp_path / "x.csv", "mturk")


def test_toloka_s_quoted_tables_with_control_tasks(tmp_path):
    path = tmp_path / "assignments.tsv"
    path.write_text(
        "INPUT:id\tINPUT:text\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
        '1\t"a ""quoted"" text\nof two lines"\tgood\t\tw1\tAPPROVED\n1\t"a ""quoted"" text\nof two lines"\tbad\t\tw2\tREJECTED\n'
        "2\tplain\tgood\tbad\tw1\tAPPROVED\n\n2\tplain\t\tbad\tw2\tSUBMITTED\n"
    )
    assert "w1: good" in shown(path, "toloka")
    report, judged, truths = read(path, "toloka", "--map", "question=INPUT:text")
    assert (judged, truths) == (["1,w1,good", "2,w1,good"], ["2,bad"])
    assert report["passed_over"] == {"rejected assignments": 1, "skipped annotations": 1}


def test_potato_names_annotators_by_folder_or_column(tmp_path):
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "annotated_instances.jsonl").write_text(
        '{"id": "1", "displayed_text": "one", "label_annotations": {"mood": {"good": "1"}}, "span_annotations": [], "behavioral_data": {}}\n'
        '{"id": "2", "displayed_text": "two", "label_annotations": {"mood": {"good": "true", "bad": "true"}}, "span_annotations": [{}]}\n'
    )
    assert "anna: good" in shown(folder / "annotated_instances.jsonl", "potato")
    report, judged, _ = read(folder / "annotated_instances.jsonl", "potato", "--map", "question=displayed_text")
    assert (judged, report["passed_over"]) == (["1,anna,good"], {"answers with several labels or none": 1, "spans": 1})
    (tmp_path / "out.tsv").write_text("user\tinstance_id\tdisplayed_text\tmood:::good\tmood:::bad\nbo\t1\tone\t\t2\n")
    assert read(tmp_path / "out.tsv", "potato")[1] == ["1,bo,bad"]


def test_qrels_are_known_answers_and_runs_are_rows(tmp_path):
    (tmp_path / "x.qrels").write_text("q1 0 d1 -2\nq1 0 d2 1\n")
    (tmp_path / "x.run").write_text("q1 Q0 d1 1 9.5 sys\n")
    report, judged, truths = read(tmp_path / "x.qrels", "trec", "--map", "question_id=question_id")
    assert (judged, truths) == ([], ["q1 d1,-2", "q1 d2,1"])
    assert read(tmp_path / "x.run", "trec", "--map", "score=score")[0]["rows"] == 1
    (tmp_path / "bad.qrels").write_text("q1 0 d1\n")
    with pytest.raises(CommandError, match=r"bad\.qrels: row 1: line: has 3 columns"):
        read(tmp_path / "bad.qrels", "trec")
    (tmp_path / "bad.qrels").write_text("q1 0 d1 high\n")
    with pytest.raises(CommandError, match=r"row 1: grade: 'high' isn't a whole number"):
        read(tmp_path / "bad.qrels", "trec")


@pytest.mark.parametrize("tool", ["argilla", "doccano", "label-studio", "potato"])
def test_what_has_another_form_is_refused_by_row(tmp_path, tool):
    path = tmp_path / "x.jsonl"
    wrong = {"responses": {"label": [3]}, "annotations": [3], "label_annotations": {"mood": 3}}
    path.write_text(json.dumps(wrong) + "\n")
    with pytest.raises(CommandError, match=r"row 1: (record|annotations): isn't"):
        read(path, tool)


def test_the_examples_in_the_documentation_run():
    found = doctest.testmod(mapping)
    assert found.attempted and not found.failed


def test_crowd_report_takes_what_comes_out(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text(
        "INPUT:id\tOUTPUT:r\tGOLDEN:r\tASSIGNMENT:worker_id\n1\tyes\tyes\tw1\n1\tno\tyes\tw2\n2\tyes\t\tw1\n"
    )
    to = tmp_path / "to"
    step("elsewhere", path, "--from", "toloka", "--to", to)
    crowd = judgments_read(to / "judgments.csv")
    assert len(crowd.judgments) == 3
    assert truths_read(to / "truth.csv", crowd) == {"1": "yes"}
