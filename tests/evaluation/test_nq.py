"""`evaluate nq` beside the official evaluation, unmodified; and what it says where that one crashes or is silent."""

import gzip
import json
import re
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.nq.gold import GoldFault, read_gold
from evaluation.nq.predictions import PredictionFault, read_predictions
from evaluation.nq.report import _intervals, nq_report
from evaluation.nq.scores import Scored

NULL = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}
SPANS = [{"start_byte": 10 * n, "end_byte": 10 * n + 9, "start_token": 2 * n, "end_token": 2 * n + 2} for n in range(4)]


def annotation(long=None, shorts=(), yes_no="NONE", number=1):
    return {
        "annotation_id": number,
        "long_answer": {**(SPANS[long] if long is not None else NULL), "candidate_index": -1},
        "short_answers": [SPANS[one] for one in shorts],
        "yes_no_answer": yes_no,
    }


def record(key, annotations, **more):
    tricky = 'a "page" with \\"annotations\\": [ and "example_id" in it ]}'
    return {"annotations": annotations, "document_html": tricky, "document_title": "T", "example_id": key, **more}


def prediction(key, long=None, shorts=(), yes_no="NONE", scores=(1.0, 1.0), spans=SPANS):
    return {
        "example_id": key,
        "long_answer": spans[long] if long is not None else NULL,
        "long_answer_score": scores[0],
        "short_answers": [spans[one] for one in shorts],
        "short_answers_score": scores[1],
        "yes_no_answer": yes_no,
    }


def write(folder, records, predictions):
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "nq-dev-00.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in records)
    (folder / "predictions.json").write_text(json.dumps({"predictions": predictions}))
    return folder / "nq-dev-00.jsonl.gz", folder / "predictions.json"


def official(gold, predictions, thresholds):
    """Return what the official functions make of two files."""
    from absl import flags
    from natural_questions import eval_utils, nq_eval

    if not flags.FLAGS.is_parsed():
        flags.FLAGS(["nq_eval"])
    flags.FLAGS.long_non_null_threshold, flags.FLAGS.short_non_null_threshold = thresholds
    annotations = eval_utils.read_annotation_from_one_split(str(gold))
    stats = nq_eval.score_answers(annotations, eval_utils.read_prediction_json(str(predictions)))
    return nq_eval.get_metrics_with_answer_stats(*stats)


def ours(gold, predictions, thresholds):
    long_beta, short_beta = thresholds
    report, _ = nq_report(
        read_gold([gold]), read_predictions(predictions), long_beta=long_beta, short_beta=short_beta, resamples=0
    )
    return report["metrics"]


LONG = st.none() | st.integers(0, 3)
SCORE = st.sampled_from([-2.5, 0.0, 0.25, 1.0, 3.0]) | st.floats(-100, 100, allow_nan=False)


@st.composite
def answer(draw):
    """Return a long answer and what goes with it: nothing, spans, yes or no."""
    long = draw(LONG)
    kind = draw(st.sampled_from(["none", "spans", "YES", "NO"])) if long is not None else "none"
    shorts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)) if kind == "spans" else []
    return long, shorts, kind if kind in ("YES", "NO") else "NONE"


@st.composite
def files(draw, ways):
    count = draw(st.integers(1, 6))
    records = [record(key, [annotation(*draw(answer()), number=n) for n in range(ways)]) for key in range(count)]
    tokens_only = [{**span, "start_byte": -1, "end_byte": -1} for span in SPANS]
    predictions = []
    for key in range(count):
        # Both kinds of answers are free: a system may say a short answer without a long one.
        long, (_, shorts, yes_no) = draw(LONG), draw(answer())
        spans = draw(st.sampled_from([SPANS, tokens_only]))
        predictions.append(prediction(key, long, shorts, yes_no, (draw(SCORE), draw(SCORE)), spans))
    return records, predictions


@pytest.mark.peers
@pytest.mark.parametrize("thresholds", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("ways", [1, 5, 25])
def test_the_numbers_are_the_official_ones_to_the_last_digit(tmp_path, ways, thresholds):
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(files(ways))
    def check(made):
        gold, predictions = write(tmp_path / "files", *made)
        assert json.dumps(ours(gold, predictions, thresholds)) == json.dumps(official(gold, predictions, thresholds))

    check()


@pytest.mark.peers
@pytest.mark.shared
def test_the_published_example_scores_as_officially(shared, tmp_path):
    published = json.loads((shared / "nq-original/trade-winds.json").read_text())
    first = published["annotations"][0]
    said = {
        "example_id": published["example_id"],
        "long_answer": first["long_answer"],
        "long_answer_score": 3.25,
        "short_answers": first["short_answers"],
        "short_answers_score": -0.5,
        "yes_no_answer": first["yes_no_answer"],
    }
    gold, predictions = write(tmp_path, [published], [said])
    for thresholds in ((1, 1), (2, 2)):
        assert json.dumps(ours(gold, predictions, thresholds)) == json.dumps(official(gold, predictions, thresholds))


@pytest.mark.peers
def test_the_command_prints_what_the_official_script_prints(tmp_path, capsys):
    records = [record(key, [annotation(key % 3), annotation(key % 2, [0]), annotation(None)]) for key in range(9)]
    gold, predictions = write(
        tmp_path, records, [prediction(key, key % 3, [0], scores=(key / 7, -key)) for key in range(9)]
    )
    call_command(
        "evaluate", "nq", "--gold", str(tmp_path / "nq-dev-??.jsonl.gz"), "--predictions", str(predictions), "--json"
    )
    report = json.loads(capsys.readouterr().out)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "natural_questions.nq_eval",
            f"--gold_path={gold}",
            f"--predictions_path={predictions}",
            "--num_threads=1",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.dumps(report["metrics"]) == re.search(r"\{.*\}", run.stdout).group()
    call_command(
        "evaluate",
        "nq",
        "--gold",
        str(gold),
        "--predictions",
        str(predictions),
        "--examples",
        str(tmp_path / "each.jsonl"),
    )
    assert "long answers at the best threshold" in capsys.readouterr().out
    assert len((tmp_path / "each.jsonl").read_text().splitlines()) == 9


def test_accuracy_types_and_conditional_scores_are_those_worked_out_by_hand(tmp_path):
    """Four examples of three annotators; a long answer is right on 0 and 1, wrong on 2; 3 has none and none is given."""
    records = [
        record(0, [annotation(0, [0]), annotation(0, [0]), annotation(None)]),
        record(1, [annotation(1, [], "YES"), annotation(1, [], "YES"), annotation(1)]),
        record(2, [annotation(2), annotation(2), annotation(3)]),
        record(3, [annotation(0), annotation(None), annotation(None)]),
    ]
    said = [prediction(0, 0, [0]), prediction(1, 1, [], "NO"), prediction(2, 0), prediction(3)]
    gold, predictions = write(tmp_path, records, said)
    report, _ = nq_report(read_gold([gold]), read_predictions(predictions))
    assert report["metrics"]["long-best-threshold-f1"] == pytest.approx(2 / 3)
    assert report["accuracy"]["long"] == 3 / 4  # 0, 1 and the rightly unanswered 3
    assert report["by_type"] == {
        "long answer only": {"examples": 1, "answered": 1, "right": 0},
        "no answer": {"examples": 1, "answered": 0, "right": 0},
        "one span": {"examples": 1, "answered": 1, "right": 1},
        "yes or no": {"examples": 1, "answered": 1, "right": 0},
    }
    assert report["conditional"]["answerable"] == {"examples": 2, "long": 1, "short": 0.5}
    assert report["conditional"]["short_given_long"] == {"examples": 2, "short": 0.5}
    low, high = report["intervals"]["long"]["f1"]
    assert 0 <= low <= 2 / 3 <= high <= 1


def test_an_id_before_much_that_follows_and_many_annotations_are_found(tmp_path):
    """What is looked at first does not reach: the line is parsed whole."""
    many = [annotation(number % 4, [0]) for number in range(3000)]
    rows = [record(1, many), record(2, [annotation(0)], question_text="q" * 600_000), record(3, [annotation(1)])]
    gold, _ = write(tmp_path, rows, [])
    found = read_gold([gold])
    assert {key: len(annotations) for key, annotations in found.items()} == {1: 3000, 2: 1, 3: 1}


@pytest.mark.parametrize("packed", [True, False])
def test_files_laid_out_otherwise_are_read_as_well(tmp_path, packed):
    """Blanks, another order of keys, a key of the same name deeper down: what is not as published is parsed whole."""
    row = {"example_id": 7, "annotations": [{**annotation(1, [2]), "example_id": 3}]}
    lines = [json.dumps(row), json.dumps({**row, "example_id": 8}, indent=None, separators=(" , ", " : ")), ""]
    text = "\n".join(lines).encode()
    path = tmp_path / "gold.jsonl"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = read_gold([path])
    assert set(found) == {7, 8}
    assert found[7] == found[8]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.update(annotations=[]), "line 2: annotations: there is none"),
        (lambda row: row.update(example_id="2"), "line 2: example_id: expected a whole number"),
        (lambda row: row.update(example_id=1), "line 2: example_id: 1 stands in these files twice"),
        (
            lambda row: row["annotations"][0]["long_answer"].pop("end_token"),
            "annotations[0].long_answer.end_token: is missing",
        ),
        (lambda row: row["annotations"][0]["long_answer"].update(end_byte=-1), "one end is null by byte"),
        (
            lambda row: row["annotations"][0]["short_answers"].append({**SPANS[0], "end_token": 0}),
            "short_answers[0]: starts at token 0 and ends at 0",
        ),
    ],
)
def test_what_is_wrong_with_annotations_is_said_by_line_and_field(tmp_path, change, said):
    wrong = record(2, [annotation(1)])
    change(wrong)
    gold, _ = write(tmp_path, [record(1, [annotation(0)]), wrong], [])
    with pytest.raises(GoldFault, match=re.escape(said)):
        read_gold([gold])


def test_damaged_files_are_told(tmp_path):
    gold, _ = write(tmp_path, [record(key, [annotation(0)]) for key in range(500)], [])
    gold.write_bytes(gold.read_bytes()[:-400])
    with pytest.raises(GoldFault, match="line"):
        read_gold([gold])
    (tmp_path / "cut.jsonl").write_text('{"annotations":[{"a":1}],"example_id":1')
    with pytest.raises(GoldFault, match="line 1: line: isn't valid JSON"):
        read_gold([tmp_path / "cut.jsonl"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.pop("long_answer_score"), "predictions[0].long_answer_score: expected a number"),
        (lambda row: row.update(example_id="1"), "predictions[0].example_id: expected a whole number"),
        (lambda row: row.update(yes_no_answer="maybe"), "expected yes, no or none"),
        (lambda row: row.update(yes_no_answer="yes", short_answers=[SPANS[0]]), "one or the other"),
        (lambda row: row.update(short_answers=5), "short_answers: expected a list"),
        (lambda row: row.update(long_answer={"start_byte": 1}), "long_answer.end_byte: is missing"),
    ],
)
def test_what_is_wrong_with_a_prediction_is_said(tmp_path, change, said):
    row = prediction(1, 0)
    change(row)
    _, predictions = write(tmp_path, [], [row])
    with pytest.raises(PredictionFault, match=re.escape(said)):
        read_predictions(predictions)


def test_missing_and_unknown_examples_are_listed(tmp_path):
    gold, predictions = write(tmp_path, [record(key, [annotation(0)]) for key in range(20)], [prediction(99)])
    with pytest.raises(
        CommandError, match=r"20 examples without a prediction: 0, 1, .* …; 1 predictions without an example: 99"
    ):
        call_command("evaluate", "nq", "--gold", str(gold), "--predictions", str(predictions))
    for wrong in ([], {"predictions": 3}, "no json"):
        predictions.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
        with pytest.raises(CommandError, match=r"predictions\.json"):
            call_command("evaluate", "nq", "--gold", str(gold), "--predictions", str(predictions))
    with pytest.raises(CommandError, match="no such file"):
        call_command("evaluate", "nq", "--gold", str(tmp_path / "nothing-*"), "--predictions", str(predictions))


def test_two_predictions_for_one_example_are_refused(tmp_path):
    _, predictions = write(tmp_path, [], [prediction(1), prediction(1)])
    with pytest.raises(PredictionFault, match="an earlier prediction for 1"):
        read_predictions(predictions)


def test_a_system_is_held_against_the_references_that_people_are_held_against(tmp_path, capsys):
    """Four examples of seven annotations: what most say, silence, another box with other tokens, and a yes."""
    wide = [annotation(long=0, shorts=[1])] * 5 + [annotation(long=2)] * 2
    same = [annotation(long=1, yes_no="YES")] * 7
    records = [record(n, rows) for n, rows in enumerate((wide, same, same, [annotation()] * 7))]
    by_tokens = [{**span, "start_byte": -1, "end_byte": -1} for span in SPANS]
    said = [
        prediction(0, long=0, shorts=[1], spans=by_tokens),
        prediction(1, long=3, yes_no="YES"),
        prediction(2, long=1, yes_no="NO", scores=(0.9, 1.0)),
        prediction(3),
    ]
    gold, predictions = write(tmp_path / "files", records, said)
    call_command("evaluate", "nq", gold=[gold], predictions=predictions, people=5, json=True)
    people = json.loads(capsys.readouterr().out)["people"]
    assert (people["annotations"], people["references"]) == (7, 5)
    # Long: the box of 0 is among any five references, that of 1 is wrong, that of 2 right, 3 is rightly silent.
    assert people["long"]["system"]["precision"]["share"] == pytest.approx(2 / 3)
    assert people["long"]["system"]["recall"]["share"] == pytest.approx(2 / 3)
    assert people["short"]["system"]["f1"]["share"] == pytest.approx(2 / 3)
    # Of those who predict, the two of the other box are wrong where neither is a reference: once in 21.
    assert people["long"]["single"]["f1"]["share"] == pytest.approx((3 - 1 / 21) / 3, abs=0.005)
    call_command("evaluate", "nq", gold=[gold], predictions=predictions, people=5)
    assert "long answers, the system           0.6667" in capsys.readouterr().out
    with pytest.raises(CommandError, match=r"more than 7: these have 7"):
        call_command("evaluate", "nq", gold=[gold], predictions=predictions, people=7)


def test_a_file_of_examples_that_cannot_be_written_is_a_sentence(tmp_path):
    gold, predictions = write(tmp_path, [record(1, [annotation(0)])], [prediction(1, 0)])
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("evaluate", "nq", gold=[str(gold)], predictions=predictions, examples=tmp_path)


def test_a_share_of_few_answers_that_are_all_right_is_no_certainty():
    """Resamples without any answer are no zeros among ones."""
    rows = [Scored(True, True, True, 1.0)] * 5 + [Scored(False, False, False, 0.0)] * 1_000
    found = _intervals(rows, 0.5, 200, 1)
    for low, high in found.values():
        assert high == 1 and low == pytest.approx(0.566, abs=0.001)  # five of five
