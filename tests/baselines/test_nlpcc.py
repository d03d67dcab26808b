"""The untrained baselines of NLPCC 2017, and a ranker that learns from its pairs."""

import json

import pytest
from django.core.management import CommandError, call_command

from baselines.nlpcc.dbqa import bm25_scores
from baselines.nlpcc.kbqa import answers_to, knowledge_read, name_of
from evaluation.nlpcc.dbqa import Pair, pairs_of, read_pairs
from evaluation.nlpcc.kbqa import read_questions

KNOWLEDGE = """\
红楼梦 ||| 作者 ||| 曹雪芹
红楼梦（电视剧） ||| 导演 ||| 王扶林
红楼梦（电视剧） ||| 集数 ||| 36
红楼 ||| 地点 ||| 北京
《孤星》 ||| 语言 ||| 汉语
《孤星》 ||| 语言 ||| 英语
damaged
远方 ||| 作者 ||| 无人
"""


@pytest.fixture
def knowledge(tmp_path):
    path = tmp_path / "knowledge.txt"
    path.write_text(KNOWLEDGE)
    return path


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("红楼梦的作者是谁？", ["曹雪芹"]),
        ("谁是红楼梦的导演？", ["王扶林"]),
        ("红楼在什么地点？", ["北京"]),
        ("孤星是用什么语言写的？", ["汉语", "英语"]),
        ("这是什么？", []),
    ],
)
def test_the_longest_subject_and_the_nearest_predicate_answer(question, answers, knowledge):
    assert answers_to(question, knowledge_read(knowledge, [question]).triples) == answers


def test_only_what_questions_name_is_kept_of_the_knowledge_base(knowledge):
    read = knowledge_read(knowledge, ["红楼梦有几集？"])
    assert sorted(read.triples) == ["红楼", "红楼梦"]
    assert (read.lines, read.damaged) == (8, 1)
    assert name_of("(only)") == "(only)"
    assert name_of("Python (语言)") == "python"


def test_sentences_are_scored_by_characters_and_their_pairs():
    asked = [
        Pair("湖的面积", "这个湖很美", None),
        Pair("湖的面积", "湖的面积是三万", None),
        Pair("湖的面积", "", None),
        Pair("？", "别的", None),
    ]
    scores = bm25_scores(asked)
    assert scores[1] > scores[0] > scores[2] == scores[3] == 0
    assert bm25_scores([Pair("a", " ", None)]) == [0.0]


def test_the_commands_write_what_the_evaluation_reads(tmp_path, knowledge, capsys):
    questions, answers = tmp_path / "questions.txt", tmp_path / "answers.txt"
    questions.write_text(
        "<question id=3>\t红楼梦的作者是谁？\r\n<answer id=3>\t曹雪芹\r\n====\r\n<question id=9>\t什么？\r\n<answer id=9>\tx\r\n"
    )
    asked = ["--questions", str(questions), "--knowledge-base", str(knowledge), "--to", str(answers), "--json"]
    call_command("baseline", "kbqa-match", *asked)
    assert json.loads(capsys.readouterr().out) == {"questions": 2, "answered": 1, "triples": 8, "damaged": 1}
    call_command("evaluate", "kbqa", "--gold", str(questions), "--predictions", str(answers), "--json")
    assert json.loads(capsys.readouterr().out)["metrics"]["F1"] == 0.5
    pairs, scores = tmp_path / "pairs.txt", tmp_path / "scores.txt"
    pairs.write_text("湖的面积\t这个湖很美\t0\n湖的面积\t湖的面积是三万\t1\n")
    call_command("baseline", "dbqa-bm25", "--pairs", str(pairs), "--to", str(scores))
    capsys.readouterr()
    call_command("evaluate", "dbqa", "--pairs", str(pairs), "--scores", str(scores), "--json")
    assert json.loads(capsys.readouterr().out)["metrics"]["MRR"] == 1
    with pytest.raises(CommandError, match="holds no question"):
        call_command("baseline", "kbqa-match", "--questions", str(pairs), *asked[2:])


def test_pairs_may_lack_labels_where_none_are_needed(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("q\ts\nq\tt\t1\n")
    assert pairs_of(path) == [Pair("q", "s", None), Pair("q", "t", True)]
    with pytest.raises(ValueError, match="line 1: expected question, sentence and label"):
        read_pairs(path)


@pytest.mark.shared
def test_questions_are_read_by_their_numbers(shared):
    found = read_questions(shared / "nlpcc/kbqa-2016-test-first-2000.txt")
    assert len(found) == 2000
    assert found[1].startswith("你知道")


@pytest.mark.parametrize("with_labels", [True, False])
def test_a_ranker_learns_from_pairs_and_scores_each_of_them(tmp_path, capsys, with_labels):
    pytest.importorskip("torch", reason="PyTorch is not installed: make ml")
    from tests.baselines.encoders import tiny_encoder

    pairs = tmp_path / "pairs.txt"
    rows = [
        (f"问{sign}", text, label) for sign in "甲乙丙丁" for text, label in (("好吧", 1), ("不是", 0), ("没有", 0))
    ]
    pairs.write_text("".join(f"{question}\t{text}\t{label}\n" for question, text, label in rows))
    folder = tmp_path / "encoder"
    folder.mkdir()
    tiny_encoder(folder, sorted(set("".join(question + text for question, text, _ in rows))))
    run, scores = str(tmp_path / "run"), tmp_path / "scores.txt"
    asked = ["--encoder", str(folder), "--to", run, "--rate", "1e-2", "--epochs", "6", "--batch", "4"]
    call_command("baseline", "rank", "train", "bert", str(pairs), *asked)
    if not with_labels:
        pairs.write_text("".join(f"{question}\t{text}\n" for question, text, _ in rows))
    call_command("baseline", "rank", "predict", run, str(pairs), "--to", str(scores))
    found = [float(line) for line in scores.read_text().splitlines()]
    assert len(found) == len(rows)
    assert min(found[at] for at in range(0, 12, 3)) > max(found[at] for at in range(12) if at % 3)
    pairs.write_text(pairs.read_text() * 2)
    refused = "holds a run with other data" if with_labels else "line 1: expected question, sentence and label"
    with pytest.raises(CommandError, match=refused):
        call_command("baseline", "rank", "train", "bert", str(pairs), *asked)
