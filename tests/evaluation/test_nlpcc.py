"""`evaluate dbqa` and `evaluate kbqa`: the metrics of NLPCC 2017, section 3, by hand, and on its published files."""

import json
from fractions import Fraction

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation.nlpcc import kbqa
from evaluation.nlpcc.dbqa import Ties, dbqa_report
from evaluation.nlpcc.kbqa import answers_of, kbqa_report, read_answers


def pairs(path, questions, encoding="utf-8"):
    lines = [
        f"{question}\t句子 {number}\t{label}" for question, labels in questions for number, label in enumerate(labels)
    ]
    path.write_bytes("\r\n".join(lines).encode(encoding) + b"\r\n")
    return path


def scores(path, values):
    path.write_text("".join(f"{value}\n" for value in values))
    return path


def scored(capsys, kind, **options):
    call_command("evaluate", kind, json=True, **options)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_dbqa_by_hand(tmp_path, capsys, encoding):
    asked = pairs(tmp_path / "pairs", [("贝加尔湖？", "0101"), ("谁？", "00"), ("何时？", "10")], encoding)
    given = scores(tmp_path / "scores", [0.9, 0.8, 0.1, 0.7, 1, 2, 0.5, 0.4])
    found = scored(capsys, "dbqa", pairs=asked, scores=given, resamples=20)
    # ranks of the answers: 2 and 3; none; 1
    assert found["metrics"] == pytest.approx(
        {
            "MRR": (1 / 2 + 0 + 1) / 3,
            "MAP": ((1 / 2 + 2 / 3) / 2 + 0 + 1) / 3,
            "ACC@1": 1 / 3,
            "ACC@3": 2 / 3,
            "ACC@5": 2 / 3,
        }
    )
    assert (found["questions"], found["pairs"], found["without_answer"]) == (3, 8, 1)
    low, high = found["intervals"]["MRR"]
    assert 0 <= low <= found["metrics"]["MRR"] <= high <= 1


@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6), min_size=1, max_size=5))
def test_dbqa_is_its_definition_and_ties_are_ranked_as_was_asked(questions):
    labels = [[label for label, _ in one] for one in questions]
    given = [score for one in questions for _, score in one]
    for ties in Ties:
        expected = []
        for one in questions:
            order = sorted(range(len(one)), key=lambda at: (-one[at][1], one[at][0] if ties is Ties.WORST else at, at))
            ranked = [one[at][0] for at in order]
            hits = [Fraction(sum(ranked[: at + 1]), at + 1) for at, hit in enumerate(ranked) if hit]
            expected.append(sum(hits) / min(sum(ranked), len(ranked)) if hits else Fraction(0))
        found = dbqa_report(labels, given, ties=ties, resamples=0)
        assert found["metrics"]["MAP"] == pytest.approx(float(sum(expected) / len(expected)))
    worst, as_filed = (
        dbqa_report(labels, given, ties=ties, resamples=0)["metrics"] for ties in (Ties.WORST, Ties.FILE)
    )
    assert all(worst[name] <= as_filed[name] for name in worst)


@pytest.mark.parametrize(
    ("pairs_text", "scores_text", "why"),
    [
        ("q\ts\t1\n", "1\n2\n", "there are 1 pairs and 2 scores"),
        ("q\ts\t2\n", "1\n", "pairs: line 1: the label '2'"),
        ("q\ts\n", "1\n", "pairs: line 1: expected question, sentence and label"),
        ("", "1\n", "pairs: holds no pair"),
        ("q\ts\t1\n", "inf\n", "scores: line 1: the score 'inf' isn't a finite number"),
        ("q\ts\t1\n", "a b\n", "scores: line 1"),
    ],
)
def test_dbqa_files_that_cannot_be_scored_say_why(tmp_path, pairs_text, scores_text, why):
    (tmp_path / "pairs").write_text(pairs_text)
    (tmp_path / "scores").write_text(scores_text)
    with pytest.raises(CommandError, match=why):
        call_command("evaluate", "dbqa", pairs=tmp_path / "pairs", scores=tmp_path / "scores")


def test_scores_that_tie_are_said(tmp_path, capsys):
    asked, given = pairs(tmp_path / "pairs", [("谁？", "01")]), scores(tmp_path / "scores", [1, 1])
    call_command("evaluate", "dbqa", pairs=asked, scores=given, ties="worst")
    assert "1 questions have equal scores that matter: ranked at worst" in capsys.readouterr().out


@pytest.mark.shared
@pytest.mark.parametrize("name", ["sample.QApair.txt", "sample.QApair.utf8.txt"])
def test_the_published_sample_of_dbqa_has_its_published_result(shared, capsys, name):
    folder = shared / "nlpcc"
    found = scored(capsys, "dbqa", pairs=folder / name, scores=folder / "sample.score.txt", resamples=0)
    published = dict(line.split("\t") for line in (folder / "sample.result.txt").read_text().splitlines())
    assert {name: float(value) for name, value in published.items()} == {
        "MAP": found["metrics"]["MAP"],
        "MRR": found["metrics"]["MRR"],
    }
    assert found["pairs"] == 7


GOLD = """<question id=1>\t谁写了它？\r
<triple id=1>\t书 ||| 作者 ||| 秦婉，王蓉\r
<answer id=1>\t秦婉，王蓉\r
==================================================\r
<question id=2>\tWho?\r
<answer id=2>\tNew York | Los Angeles\r
==================================================\r
<question id=48846>\tWhat?\r
<answer id=48846>\ta\tB\tc\r
"""


def kbqa_files(folder, predicted, encoding="utf-8"):
    (folder / "gold").write_bytes(GOLD.encode(encoding))
    (folder / "predictions").write_text(predicted, encoding="utf-8")
    return {"gold": folder / "gold", "predictions": folder / "predictions"}


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_kbqa_by_hand(tmp_path, capsys, encoding):
    said = "<answer id=1>\t秦 婉，王蓉\n<answer id=2>\tnew york | Boston\n<answer id=7>\tx\n"
    found = scored(capsys, "kbqa", **kbqa_files(tmp_path, said, encoding), resamples=0)
    assert found["metrics"] == pytest.approx({"precision": 1.5 / 3, "recall": 1.5 / 3, "F1": 1.5 / 3})
    assert (found["questions"], found["unanswered"], found["beyond"]) == (3, 1, 1)
    assert found["damaged"]["gold"]["lines"] == found["damaged"]["predictions"]["lines"] == 0


@given(st.sets(st.sampled_from("abcdef"), min_size=1), st.sets(st.sampled_from("abcdef")))
def test_averaged_f1_is_its_definition(wanted, given_answers):
    gold, predicted = kbqa.Answered(), kbqa.Answered()
    gold.take(1, frozenset(wanted))
    predicted.take(1, frozenset(given_answers))
    both = len(wanted & given_answers)
    expected = 0
    if both:
        precision, recall = Fraction(both, len(given_answers)), Fraction(both, len(wanted))
        expected = 2 * precision * recall / (precision + recall)
    assert kbqa_report(gold, predicted, resamples=0)["metrics"]["F1"] == pytest.approx(float(expected))


def test_no_answer_of_a_line_is_lost_and_none_counts_twice():
    assert answers_of("A b | ab | c ") == {"ab", "c"}
    assert answers_of(" ") == frozenset()


def test_damaged_records_are_named_by_line_and_left_out(tmp_path, capsys):
    said = (
        "<answer id=1>\t秦婉，王蓉\n<answer id=1>\tx\n<question id=2>\tWho?\n<question id=3>\tHow?\n<answer id=2>\tBoston\n"
        "<anwser id=2>\tNew York\n<question id=5>\tWhy?\n"
    )
    found = scored(capsys, "kbqa", **kbqa_files(tmp_path, said), resamples=0)
    assert found["damaged"]["predictions"] == {
        "lines": 5,
        "first": [
            "line 2: question 1 was answered before",
            "line 4: question 2 has no answer",
            "line 5: answer 2 stands under question 3",
            "line 6: isn't a question, triple, or answer",
            "line 7: question 5 has no answer",
        ],
    }
    assert found["metrics"]["F1"] == pytest.approx(1 / 3)
    call_command("evaluate", "kbqa", **kbqa_files(tmp_path, said))
    assert "5 damaged lines (predictions):\n    line 2: question 1" in capsys.readouterr().out


def test_kbqa_files_without_answers_or_with_too_many_are_refused(tmp_path, monkeypatch):
    with pytest.raises(CommandError, match="predictions: holds no answer"):
        call_command("evaluate", "kbqa", **kbqa_files(tmp_path, "nothing\n"))
    (tmp_path / "empty").write_text("<answer id=1>\t\n")
    with pytest.raises(CommandError, match="no answer to compare with"):
        call_command("evaluate", "kbqa", gold=tmp_path / "empty", predictions=tmp_path / "gold")
    monkeypatch.setattr(kbqa, "MOST_ANSWERS", 3)
    with pytest.raises(CommandError, match="line 9: there are more than 3 answers"):
        call_command("evaluate", "kbqa", gold=tmp_path / "gold", predictions=tmp_path / "gold")


@pytest.mark.shared
def test_published_kbqa_records_are_read_without_damage(shared):
    found = read_answers(shared / "nlpcc" / "kbqa-2016-test-first-2000.txt")
    assert (len(found.answers), found.damaged) == (2000, [])
    assert kbqa_report(found, found, resamples=0)["metrics"] == {"precision": 1, "recall": 1, "F1": 1}
