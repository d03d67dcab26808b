"""The untrained baselines of section 6.1, on pages small enough to work out by hand; and scored as any other system."""

import gzip
import json
import math

import pytest
from django.core.management import CommandError, call_command

from evaluation.baselines.nq import closest_question, first_paragraph, most_frequent, pages_of, predictions_of

NULL = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}


def record(key, question, boxes, title="Harbour", annotations=()):
    """Return an example whose boxes are given as (tag, words); annotations as (box, spans of words, yes or no)."""
    tokens, candidates = [], []
    for tag, words in boxes:
        start = len(tokens)
        for text in (f"<{tag}>", *words.split(), f"</{tag}>"):
            at = 10 * len(tokens)
            tokens.append({"token": text, "start_byte": at, "end_byte": at + 5, "html_token": text.startswith("<")})
        candidates.append({**span(tokens, start, len(tokens)), "top_level": True})
    made = [
        {
            "annotation_id": number,
            "long_answer": {
                **(span(tokens, candidates[box]["start_token"], candidates[box]["end_token"]) if box >= 0 else NULL),
                "candidate_index": box,
            },
            "short_answers": [
                span(tokens, candidates[box]["start_token"] + a, candidates[box]["start_token"] + b) for a, b in spans
            ],
            "yes_no_answer": yes_no,
        }
        for number, (box, spans, yes_no) in enumerate(annotations)
    ]
    return {
        "annotations": made,
        "example_id": key,
        "question_text": question,
        "document_title": title,
        "document_tokens": tokens,
        "long_answer_candidates": candidates,
    }


def span(tokens, start, end):
    return {
        "start_byte": tokens[start]["start_byte"],
        "end_byte": tokens[end - 1]["end_byte"],
        "start_token": start,
        "end_token": end,
    }


PAGE = [("Table", "year 1871"), ("P", "it was built in 1871"), ("P", "it has two piers"), ("Li", "north pier")]
TRAINING = [
    record(1, "when was the harbour built", PAGE, annotations=[(1, [(5, 6)], "NONE")]),
    record(2, "how many piers has the harbour", PAGE, annotations=[(2, [(3, 4)], "NONE")]),
    record(3, "does it have piers", PAGE, annotations=[(2, [(3, 4)], "NONE")]),
    record(4, "who owns it", PAGE, annotations=[(-1, [], "NONE")]),
]


def predicted(baseline, *records):
    return predictions_of(records, baseline)["predictions"]


def test_the_first_paragraph_is_the_first_box_that_is_one():
    found, none = predicted(first_paragraph, record(9, "?", PAGE), record(10, "?", [("Table", "year")]))
    assert (found["long_answer"]["start_token"], found["long_answer"]["end_token"]) == (4, 11)
    assert (found["short_answers"], found["long_answer_score"]) == ([], 1.0)
    assert none["long_answer"] == NULL


def test_most_frequent_copies_what_most_annotations_of_the_page_say():
    baseline = most_frequent(pages_of(TRAINING))
    moved = [("P", "new words at the top"), *PAGE]  # the same box, elsewhere on the page
    found, other = predicted(baseline, record(9, "?", moved), record(10, "?", PAGE, title="Another"))
    box = record(9, "?", moved)["long_answer_candidates"][3]
    assert found["long_answer"] == {name: box[name] for name in NULL}
    assert found["short_answers"][0]["start_token"] == box["start_token"] + 3
    assert found["long_answer_score"] == 2.0
    assert other["long_answer"] == NULL


def test_a_box_whose_words_changed_is_copied_to_nowhere():
    [found] = predicted(most_frequent(pages_of(TRAINING)), record(9, "?", [("P", "it has three piers")]))
    assert found["long_answer"] == NULL


def test_closest_question_copies_the_answer_to_the_question_with_most_weighty_words_in_common():
    baseline = closest_question(pages_of(TRAINING))
    built, piers = predicted(baseline, record(9, "when was it built", PAGE), record(10, "how many piers", PAGE))
    assert built["long_answer"]["start_token"] == 4
    assert piers["long_answer"]["start_token"] == 11
    # "how many piers" and the second question share three of its words; of three questions with an answer, "piers" and
    # "harbour" are in two, "how", "many", "has" and "the" … are in one or two: worked out below.
    log = {"how": 3, "many": 3, "piers": 3 / 2, "has": 3, "the": 3 / 2, "harbour": 3 / 2}

    weight = {term: math.log(ratio) for term, ratio in log.items()}
    shared = sum(weight[term] ** 2 for term in ("how", "many", "piers"))
    expected = shared / math.sqrt(shared * sum(one**2 for one in weight.values()))
    assert piers["long_answer_score"] == pytest.approx(expected)


def test_the_command_writes_what_the_evaluation_reads(tmp_path, capsys):
    for name, records in (
        ("train", TRAINING),
        ("dev", [record(9, "how many piers", PAGE, annotations=[(2, [(3, 4)], "NONE")] * 2)]),
    ):
        with gzip.open(tmp_path / f"nq-{name}-00.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(one, sort_keys=True, separators=(",", ":")) + "\n" for one in records)
    for name, f1 in (("first-paragraph", 0.0), ("most-frequent", 1.0), ("closest-question", 1.0)):
        call_command(
            "baseline",
            name,
            "--questions",
            str(tmp_path / "nq-dev-*.gz"),
            "--train",
            str(tmp_path / "nq-train-*.gz"),
            "--to",
            str(tmp_path / "p.json"),
            "--json",
        )
        assert json.loads(capsys.readouterr().out) == {"predictions": 1, "answered": 1}
        call_command(
            "evaluate",
            "nq",
            "--gold",
            str(tmp_path / "nq-dev-00.jsonl.gz"),
            "--predictions",
            str(tmp_path / "p.json"),
            "--json",
        )
        assert json.loads(capsys.readouterr().out)["metrics"]["short-best-threshold-f1"] == f1


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"{}\n", "an example in the original format"), (b"[]\n", "line 1"), (b"nonsense\n", "line 1")],
)
def test_files_that_are_no_examples_end_with_a_sentence(tmp_path, content, why):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(CommandError, match=why):
        call_command(
            "baseline", "first-paragraph", "--questions", str(tmp_path / "a.jsonl"), "--to", str(tmp_path / "p")
        )
    with pytest.raises(CommandError, match="--train"):
        call_command("baseline", "most-frequent", "--questions", str(tmp_path / "a.jsonl"), "--to", str(tmp_path / "p"))
    with pytest.raises(CommandError, match="no such file"):
        call_command("baseline", "first-paragraph", "--questions", str(tmp_path / "b*"), "--to", str(tmp_path / "p"))
