"""Readers from files to predictions: what they are given, what padding does, what they learn, and what is refused."""

import gzip
import json
import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make ml")

import torch
from django.core.management import CommandError, call_command
from safetensors.torch import load_file

from baselines.loop import Schedule
from baselines.nq.examples import Answer, Box, Example
from baselines.nq.generated import generated_write
from baselines.readers import command
from baselines.readers.documentqa import MOST_PASSAGES, DocumentQA, best_passages
from baselines.readers.pages import MOST_WORDS, Page, Passage, Target, page_of, read_pages, words_of
from baselines.readers.pipeline import DecAtt, DocReader
from baselines.readers.reader import best_of
from baselines.readers.running import READERS, Recipe, predict, train
from baselines.readers.vectors import WordVectors, vectors_read
from evaluation.files import EvaluationError
from tests.baselines.encoders import tiny_encoder
from tests.baselines.interrupted import is_same_after_an_interruption

WIDTH = 12
BOTH = list(READERS)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    generated_write(folder / "train.jsonl.gz", questions=12, seed=1, ways=1)
    generated_write(folder / "dev.jsonl.gz", questions=6, seed=2, ways=5)
    return folder


@pytest.fixture(scope="session")
def vectors(tmp_path_factory, data):
    """Return a file in GloVe's format with the words of the pages."""
    path = tmp_path_factory.mktemp("vectors") / "words.txt"
    chance = np.random.default_rng(1)
    words = sorted({word.lower() for word in words_of(read_pages(data.glob("*.gz")))})
    path.write_text(
        "".join(f"{word} {' '.join(f'{one:.3f}' for one in chance.normal(size=WIDTH))}\n" for word in words)
    )
    return path


def example(words, boxes, answers=(), question="who is the mayor"):
    return Example(7, question, words, words, [(at, at + 1) for at in range(len(words))], boxes, list(answers))


def test_a_page_has_the_words_of_its_top_boxes_and_what_they_share_with_the_question():
    words = ["", "The", "mayor", "is", "Ann", "", "", "a", "mayor", "", "x"]
    boxes = [Box(0, 6, True), Box(1, 5, False), Box(6, 10, True), Box(5, 7, True), Box(10, 11, True)]
    page = page_of(example(words, boxes, [Answer(1, ((4, 5),))]))
    assert page.question == ["who", "is", "the", "mayor"]
    assert [(one.words, one.tokens) for one in page.passages] == [
        (["The", "mayor", "is", "Ann"], [1, 2, 3, 4]),
        (["a", "mayor"], [7, 8]),
        (["x"], [10]),
    ]
    assert [one.shared for one in page.passages] == [3, 1, 0]
    alone, twice = math.log(4 / 1), math.log(4 / 2)
    assert [one.weighted for one in page.passages] == pytest.approx([2 * alone + twice, twice, 0])
    assert page.target == Target(0, (3, 3))


@pytest.mark.parametrize(
    ("answers", "target"),
    [
        ([], None),
        ([Answer(0)], Target(0, None)),
        ([Answer(0, (), "YES")], Target(0, None)),
        ([Answer(1, ((3, 4), (1, 2)))], Target(0, (1, 3))),
        ([Answer(2, ((6 + MOST_WORDS, 7 + MOST_WORDS),))], Target(1, None)),
    ],
)
def test_the_target_is_the_passage_that_holds_the_box_and_the_smallest_span_of_all_answers(answers, target):
    words = [f"w{at}" for at in range(10 + MOST_WORDS)]
    boxes = [Box(0, 5, True), Box(1, 4, False), Box(5, len(words), True)]
    assert page_of(example(words, boxes, answers)).target == target


def test_vectors_are_read_from_a_file_with_counts_first_and_words_with_spaces(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"4 2\nmayor 1 2\n. . 3 4\nAnn 5 6\nelse 7 8\n"))
    known = vectors_read(path, {"mayor", "Mayor", ". .", "Ann", "nowhere"})
    found, mask = known.padded([["Mayor", "Ann"], ["nowhere"]], torch.device("cpu"))
    assert found.tolist() == [[[1, 2], [5, 6]], [[0, 0], [0, 0]]]
    assert mask.tolist() == [[True, True], [True, False]]
    assert len(known._table) == 1 + 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("mayor 1 2\nAnn 3\n", "line 2: expected a word and 2 finite numbers"),
        ("mayor 1 2\nAnn 3 x\n", "line 2: could not convert"),
        ("mayor 1 nan\n", "line 1: expected a word and 2 finite numbers"),
        ("else 1 2\n", "has none of the 2 words"),
    ],
)
def test_a_file_that_has_no_vectors_ends_with_file_and_line(tmp_path, content, said):
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    with pytest.raises(EvaluationError, match=said):
        vectors_read(path, {"mayor", "Ann"})


def test_the_vector_of_a_word_is_the_mean_of_its_pieces_in_an_encoder(tmp_path):
    folder = tiny_encoder(tmp_path, ["may", "##or", "ann"])
    known = vectors_read(folder, {"mayor", "Ann", "may"})
    (words,), _ = known.padded([["mayor", "Ann", "may"]], torch.device("cpu"))
    table = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    table = table / table.std(correction=0)
    rows = (folder / "vocab.txt").read_text().split("\n")
    may, rest, ann = (table[rows.index(piece)] for piece in ("may", "##or", "ann"))
    assert torch.allclose(words, torch.stack([(may + rest) / 2, ann, may]), atol=1e-5)


def test_the_best_span_ends_where_it_begins_or_later_and_is_not_too_long():
    starts, ends = torch.tensor([0.0, 5, 0, 1]), torch.tensor([9.0, 0, 0, 2])
    assert best_of(starts, ends, 2) == (9, 0, 0)
    assert best_of(starts, torch.tensor([0.0, 0, 0, 2]), 4) == (7, 1, 3)
    assert best_of(starts, torch.tensor([0.0, 0, 0, 2]), 2) == (5, 1, 1)


@pytest.mark.parametrize("kind", [DecAtt, DocReader])
def test_what_stands_beside_a_pair_in_a_batch_changes_nothing(kind):
    torch.manual_seed(1)
    model = kind(WIDTH).eval()
    inputs = [torch.randn(2, 6, WIDTH), torch.ones(2, 6, dtype=torch.bool)]
    inputs += [torch.randn(2, 9, WIDTH), torch.ones(2, 9, dtype=torch.bool)]
    inputs += [torch.rand(2, 9, 2)] if kind is DocReader else []
    inputs[1][0, 4:], inputs[3][0, 5:] = False, False
    lengths = (4, 4, 5, 5, 5)
    alone = model(*(one[:1, :length] for one, length in zip(inputs, lengths, strict=False)))
    together = model(*inputs)
    if kind is DecAtt:
        assert torch.allclose(alone[0], together[0], atol=1e-5)
    else:
        for one, other in zip(alone, together, strict=True):
            assert torch.allclose(one[0], other[0, : one.shape[1]], atol=1e-5)


def passages(count, words=("a", "b")):
    return [
        Passage(Box(at, at + 1, True), list(words), list(range(len(words))), at % 3, float(at)) for at in range(count)
    ]


def test_documentqa_reads_the_passages_nearest_to_the_question_and_while_learning_the_right_one():
    many = passages(MOST_PASSAGES + 5)
    assert best_passages(Page(["q"], many)) == list(range(5, MOST_PASSAGES + 5))
    assert best_passages(Page(["q"], many, Target(1, None))) == [1, *range(6, MOST_PASSAGES + 5)]


def test_documentqa_is_blind_to_padding_and_says_a_whole_passage_from_sign_to_sign():
    torch.manual_seed(2)
    known = WordVectors({word: np.full(WIDTH, number, np.float32) for number, word in enumerate("abcq", 1)}, WIDTH)
    model = DocumentQA(known).eval()
    page = Page(["q"], [*passages(1), Passage(Box(5, 9, True), ["a", "b", "c", "a", "q"], [5, 6, 7, 8, 9], 1, 0.5)])
    ((starts, ends),) = model._logits([page], [[0, 1]])
    ((alone, _),) = model._logits([Page(["q"], page.passages[:1])], [[0]])
    assert torch.allclose(starts[0, :4], alone[0], atol=1e-5)
    assert (starts[0, 4:] < -1e8).all()
    with torch.no_grad():
        model.answer(page)
        model._logits = lambda *_: [(torch.tensor([[9.0, 0, 0, 0]]), torch.tensor([[0, 0.0, 0, 9]]))]
        whole = model.answer(Page(["q"], page.passages[:1]))
        assert (whole.long, whole.short, whole.long_score) == ((0, 1), None, 18)
        model._logits = lambda *_: [(torch.tensor([[9.0, 8, 0, 0]]), torch.tensor([[0, 8.0, 12, 1]]))]
        assert model.answer(Page(["q"], page.passages[:1])).short == (0, 2)


@pytest.mark.parametrize("name", BOTH)
def test_a_reader_learns_and_an_interrupted_run_ends_with_the_same_weights(name, data, vectors, tmp_path):
    recipe = Recipe(name, Schedule(rate=3e-3, epochs=6, batch=4, seed=1))
    options = {"files": [data / "train.jsonl.gz"], "vectors": vectors, "recipe": recipe, "checkpoint_steps": 4}
    whole = train(tmp_path / "whole", say=lambda _: None, **options)
    assert np.mean(whole["losses"][-3:]) < 0.8 * np.mean(whole["losses"][:3])
    assert whole["recipe"]["reader"] == name

    assert is_same_after_an_interruption(train, tmp_path, whole, step=8, **options)


def test_the_command_trains_and_predicts_and_refuses_other_vectors(data, vectors, tmp_path, capsys):
    assert set(command.NAMES) == set(READERS)
    run, to = str(tmp_path / "run"), str(tmp_path / "out.json")
    files = str(data / "train.jsonl.gz")
    asked = ["--vectors", str(vectors), "--to"]
    call_command("baseline", "reader", "train", "decatt-docreader", files, *asked, run, "--epochs", "1")
    call_command("baseline", "reader", "predict", run, str(data / "dev.jsonl.gz"), *asked, to, "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"predictions": 6, "answered": 6}
    for row in json.loads((tmp_path / "out.json").read_text())["predictions"]:
        long, (short,) = row["long_answer"], row["short_answers"]
        assert long["start_token"] <= short["start_token"] < short["end_token"] <= long["end_token"]
        assert row["short_answers_score"] < row["long_answer_score"] < 0
    other = tmp_path / "other.txt"
    other.write_text("the 1 2\n")
    with pytest.raises(CommandError, match=r"isn't what .* was trained with"):
        call_command("baseline", "reader", "predict", run, files, "--vectors", str(other), "--to", to)


def test_a_page_without_a_passage_is_predicted_as_without_an_answer(data, vectors, tmp_path):
    record = json.loads(gzip.open(data / "dev.jsonl.gz").readline())
    record |= {"long_answer_candidates": [], "annotations": [], "example_id": 5}
    (tmp_path / "bare.jsonl").write_text(json.dumps(record))
    options = {"files": [data / "train.jsonl.gz"], "vectors": vectors, "say": lambda _: None}
    train(tmp_path / "run", recipe=Recipe("documentqa", Schedule(epochs=1, batch=12)), **options)
    files = [tmp_path / "bare.jsonl", data / "dev.jsonl.gz"]
    predict(tmp_path / "run", to=tmp_path / "out.json", **(options | {"files": files}))
    rows = json.loads((tmp_path / "out.json").read_text())["predictions"]
    (row,) = (row for row in rows if row["example_id"] == 5)
    assert row["long_answer"]["start_token"] == row["short_answers"][0]["start_token"] == -1
    with pytest.raises(EvaluationError, match="no page with a top-level box"):
        train(tmp_path / "other", recipe=Recipe("documentqa"), **(options | {"files": [tmp_path / "bare.jsonl"]}))
