"""Files of judgments as people have them: one label however it is written, and its order said rather than guessed."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from measures.agreement import Level, alpha, alpha_alone
from measures.judgment_files import JudgmentFileError, JudgmentOptions, judgments_read, truths_read
from measures.judgments import LabelsWithoutOrder, Repeats, judgments_from, judgments_of

INTS = "item,worker,label\n1,ann,3\n1,bo,3\n2,ann,1\n2,bo,1\n3,ann,2\n3,bo,1\n4,ann,3\n4,bo,3\n"
WORDS = {"1": "poor", "2": "fair", "3": "good", "4": "excellent"}


@pytest.fixture
def report(tmp_path, capsys):
    """Return what writes files and reports on the first of them, as JSON."""

    def run(text, *options, truth=None, name="labels.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        more = list(options)
        if truth is not None:
            (tmp_path / "truth.csv").write_text(truth, encoding="utf-8")
            more += ["--truth", str(tmp_path / "truth.csv")]
        call_command("crowd_report", str(tmp_path / name), *more, "--json")
        return json.loads(capsys.readouterr().out)

    return run


def test_equal_numbers_are_one_label_and_both_spellings_are_told(report):
    mixed = INTS.replace("bo,3", "bo,3.0").replace("bo,1", "bo,０１")
    found, plain = report(mixed, "--level", "ordinal"), report(INTS, "--level", "ordinal")
    assert {key: found[key] for key in found if key != "read"} == {key: plain[key] for key in plain if key != "read"}
    assert (found["labels"], plain["read"]) == (["1", "2", "3"], {"rows": 8, "notes": []})
    assert "'3' and '3.0'" in found["read"]["notes"][0] and "are one value" in found["read"]["notes"][0]


@pytest.mark.parametrize("truth", ["1,3.0\n2,1.0\n3,2.0\n4,3.0\n", "1.0,3\n2.0,1\n3.0,2\n4.0,3\n"])
def test_truths_meet_labels_and_items_however_they_are_written(report, truth):
    found = report(INTS, truth=f"item,truth\n{truth}")
    assert (found["truths"], found["majority"]["accuracy"], found["read"]["notes"]) == (4, 0.875, [])


def test_truths_that_meet_nothing_are_told_with_an_example(report):
    found = report(INTS, truth="item,truth\nq1,3\nq2,1\n")
    assert found["read"]["notes"] == [
        "none of 2 truths meets an item that was judged (a truth is of 'q1', a judgment of '1')"
    ]
    found = report(INTS, truth="Item,Truth\n1,3\n9,1\n2,7\n")
    assert found["read"]["notes"] == [
        "1 of 3 truths meet no item that was judged, such as '9'",
        "2 of 4 items have no truth, such as '3'",
        "truths that nobody gave as a label: '7'",
    ]


@pytest.mark.parametrize("level", list(Level))
def test_nan_is_refused_by_line_and_left_out_on_request(report, level):
    text = INTS.replace("1,bo,3", "1,bo,nan")
    with pytest.raises(CommandError, match=r"line 3, column label: 'nan' is not a number.*--missing 'nan'"):
        report(text, "--level", level.value)
    found = report(text, "--level", level.value, "--missing", "nan", "--missing", "n/a")
    assert (found["judgments"], found["read"]["rows"]) == (7, 8)
    assert found["read"]["notes"] == ["rows left out whose label is 'nan' or 'n/a': 1"]


@pytest.mark.parametrize("text", ["None", "NA", "null", "-"])
def test_what_may_stand_for_a_missing_label_is_told(report, text):
    found = report(f"item,worker,label\na,ann,{text}\na,bo,yes\nb,ann,yes\nb,bo,yes\n")
    assert f"'{text}' counts as a label" in found["read"]["notes"][0]
    assert report(f"item,worker,label\na,ann,{text}\na,bo,yes\nb,ann,no\nb,bo,yes\n", "--missing", text)["labels"] == [
        "no",
        "yes",
    ]


def test_inf_is_a_word_among_words_and_no_number_among_numbers(report):
    with pytest.raises(CommandError, match="line 3, column label: 'inf' is not a number"):
        report(INTS.replace("1,bo,3", "1,bo,inf"))
    words = "item,worker,label\na,ann,inf\na,bo,inf\nb,ann,yes\nb,bo,no\n"
    assert report(words)["labels"] == ["inf", "no", "yes"]


def test_the_order_of_words_is_said_and_never_guessed(report, capsys, tmp_path):
    rows = [(item, who, 1 + (item * 7 + who * (item % 3)) % 4) for item in range(40) for who in range(3)]
    numbers = "item,worker,label\n" + "".join(f"{item},{who},{label}\n" for item, who, label in rows)
    words = "item,worker,label\n" + "".join(f"{item},{who},{WORDS[str(label)]}\n" for item, who, label in rows)
    first = WORDS[str(rows[0][2])]
    with pytest.raises(CommandError, match=f"line 2, column label: '{first}' is not a number.*--labels LOW,…,HIGH"):
        report(words, "--level", "ordinal")
    found = report(words, "--level", "ordinal", "--labels", "poor, fair,good,excellent")
    as_numbers = report(numbers, "--level", "ordinal")
    assert (found["alpha"], found["gwet_ac2"]) == (as_numbers["alpha"], as_numbers["gwet_ac2"])
    assert found["labels"] == list(WORDS.values())
    with pytest.raises(
        CommandError, match=r"line .*, column label: 'excellent' is none of the labels poor, fair, good"
    ):
        report(words, "--level", "ordinal", "--labels", "poor,fair,good")
    with pytest.raises(CommandError, match="at interval level labels are numbers"):
        report(words, "--level", "interval", "--labels", "poor,fair,good,excellent")
    call_command(
        "crowd_report", str(tmp_path / "labels.csv"), "--level", "ordinal", "--labels", "poor,fair,good,excellent"
    )
    assert "(ordinal, poor < fair < good < excellent)" in capsys.readouterr().out


def test_one_word_among_numbers_does_not_change_their_order(report):
    text = INTS.replace("1,bo,3", "1,bo,n/a").replace("ann,3", "ann,10")
    with pytest.raises(CommandError, match="line 3, column label: 'n/a' is not a number"):
        report(text, "--level", "ordinal")
    assert report(text, "--level", "ordinal", "--missing", "n/a")["labels"] == ["1", "2", "3", "10"]


def test_agreement_by_order_is_refused_where_there_is_none():
    words = judgments_of([("a", "x", "low"), ("a", "y", "high"), ("b", "x", "low"), ("b", "y", "low")])
    for compute in (alpha, alpha_alone):
        with pytest.raises(LabelsWithoutOrder, match="'high' is not a number"):
            compute(words, level=Level.ORDINAL)
    assert alpha(words).units == 2
    said = judgments_of(
        [("a", "x", "low"), ("a", "y", "high"), ("b", "x", "low"), ("b", "y", "low")], labels=["low", "high"]
    )
    assert alpha(said.part(np.array([True] * 4)), level=Level.ORDINAL).units == 2


def test_rows_with_an_empty_cell_are_refused_or_left_out_and_counted(report):
    text = f"{INTS}5,ann,\n,bo,1\n\n,,\n"
    with pytest.raises(CommandError, match="line 11, column item: is empty"):
        report(text)
    found = report(text, "--skip-empty")
    assert found["judgments"] == 8
    assert found["read"]["notes"] == ["empty rows passed over: 2", "rows left out with an empty cell: 2"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "1,000", "soon"])
def test_seconds_are_numbers(report, seconds):
    with pytest.raises(CommandError, match=r"line 2, column seconds: '.*' is not a number"):
        report(f'item;worker;label;seconds\na;ann;1;"{seconds}"\na;bo;1;2\n')


def test_ids_of_people_and_labels_meet_without_blanks_and_in_one_form(report):
    text = "item\tworker\tlabel\ncafe\u0301\tann \tja\ncafé\tbo\t ja\ncafé\tJO\tJa\n"
    found = report(text, name="labels.tsv")
    assert (found["items"], found["annotators"], found["labels"]) == (1, 3, ["Ja", "ja"])
    assert found["read"]["notes"] == [
        "column label: 'ja' and 'Ja' differ only by case or width and are different values"
    ]


def test_columns_that_nobody_reads_are_named(report):
    text = INTS.replace("\n", ",x\n").replace("label,x", "label,comment")
    assert report(text)["read"]["notes"] == ["columns that weren't read: comment"]


def test_any_table_is_read(tmp_path):
    table = pd.read_csv(io.StringIO(INTS))
    table.to_csv(tmp_path / "x.csv", sep=";", index=False, encoding="utf-16")
    table.to_excel(tmp_path / "x.xlsx", index=False)
    table.to_parquet(tmp_path / "x.parquet")
    table.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    of = {path.name: judgments_read(path).judgments for path in sorted(tmp_path.iterdir())}
    for judgments in of.values():
        assert (judgments.items, judgments.annotators, judgments.labels) == (
            ("1", "2", "3", "4"),
            ("ann", "bo"),
            ("1", "2", "3"),
        )
        assert judgments.label.tolist() == [2, 2, 0, 0, 1, 0, 2, 2]


def test_zero_is_a_label_and_an_id(tmp_path):
    (tmp_path / "x.jsonl").write_text(
        '{"item": 0, "worker": 0, "label": false}\n{"item": 0, "worker": 1, "label": true}\n'
    )
    judgments = judgments_read(tmp_path / "x.jsonl").judgments
    assert (judgments.items, judgments.annotators, judgments.labels) == (("0",), ("0", "1"), ("false", "true"))


@pytest.mark.parametrize("repeats", [Repeats.FIRST, Repeats.LAST])
def test_a_data_frame_holds_the_judgments_that_its_rows_hold(repeats):
    rows = [("a", "x", 1), ("b", "x", 2), ("a", "y", 2), ("a", "x", 2)]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    one, other = judgments_from(frame, repeats=repeats), judgments_of(rows, repeats=repeats)
    assert (one.items, one.annotators, one.labels) == (other.items, other.annotators, other.labels)
    assert (one.counts() == other.counts()).all() and one.repeated == 1
    with pytest.raises(ValueError, match="'x' judged 'a' twice"):
        judgments_from(frame)


@pytest.mark.parametrize("column", ["item", "worker", "label"])
def test_a_data_frame_with_a_missing_value_is_refused_by_row(column):
    frame = pd.DataFrame({"item": ["a", "b"], "worker": ["x", "x"], "label": ["1", "2"]}, index=[7, 8])
    frame.loc[8, column] = None
    with pytest.raises(ValueError, match=f"row 8 has no {column}: drop such rows first"):
        judgments_from(frame)


def test_gbk_is_read_by_name_and_named_otherwise(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(f"{item},{who},{label}\n" for item in "一二" for who in "甲乙丙" for label in ["这个回答说得很清楚"])
    path.write_bytes(f"item,worker,label\n{rows}".encode("gb18030"))
    with pytest.raises(JudgmentFileError, match=r"x\.csv, line 2: not valid UTF-8.*--encoding gb18030"):
        judgments_read(path)
    assert judgments_read(path, JudgmentOptions(encoding="gb18030")).judgments.items == ("一", "二")


def test_different_truths_of_one_item_are_an_error_however_it_is_written(tmp_path):
    (tmp_path / "x.csv").write_text(INTS)
    (tmp_path / "t.csv").write_text("item,truth\n1,3\n1.0,03\n01,2\n")
    with pytest.raises(JudgmentFileError, match=r"t\.csv, line 4, column truth: '2', but '01' was '3' before"):
        truths_read(tmp_path / "t.csv", judgments_read(tmp_path / "x.csv"))
