"""Windows of BERT joint: those of the published code on real records, and right where it is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: make peers, or make ml")

from baselines.nq.examples import read_examples
from baselines.nq.vocabulary import MARKUP, vocabulary_read
from baselines.nq.windows import Kind, Shape, windows_of
from evaluation.files import EvaluationError
from tests.baselines import published

WORDS = "the ship sailed on july 23 , to trieste in 1869 with a load of salt ##ed wine and who saw it when".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SHORT = Shape(length=32, stride=8)


@pytest.fixture
def small(tmp_path):
    """Return a small vocabulary with the markup in it."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *MARKUP, *WORDS]) + "\n")
    return vocabulary_read(path)


def record(boxes, *, answer=None, shorts=(), yes_no="NONE", question="When sailed the ship"):
    """Return a record whose page has these boxes: (tag, words, nested boxes)."""
    tokens, candidates = [], []

    def put(text, *, html):
        start = tokens[-1]["end_byte"] + 1 if tokens else 0
        tokens.append({"token": text, "html_token": html, "start_byte": start, "end_byte": start + len(text.encode())})

    def add(tag, words, nested, *, top):
        place = len(candidates)
        candidates.append(None)
        start = len(tokens)
        put(f"<{tag}>", html=True)
        for word in words.split():
            put(word, html=False)
        for one in nested:
            add(*one, top=False)
        put(f"</{tag}>", html=True)
        candidates[place] = {"start_token": start, "end_token": len(tokens), "top_level": top}

    for box in boxes:
        add(*box, top=True)
    annotations = []
    if answer is not None:
        found = []
        for text in shorts:
            words = text.split()
            box = candidates[answer]
            found += [
                {"start_token": at, "end_token": at + len(words)}
                for at in range(box["start_token"], box["end_token"])
                if [one["token"] for one in tokens[at : at + len(words)]] == words
            ]
        annotations.append(
            {
                "long_answer": {"candidate_index": answer, **candidates[answer]},
                "short_answers": found,
                "yes_no_answer": yes_no,
            }
        )
    return {
        "example_id": 7,
        "question_text": question,
        "document_tokens": tokens,
        "long_answer_candidates": candidates,
        "annotations": annotations,
    }


def example_of(tmp_path, made):
    path = tmp_path / "nq.jsonl"
    path.write_text(json.dumps(made))
    (example,) = read_examples([path])
    return example


def answer_texts(example, windows, vocabulary):
    """Return what the targets say, in words, by window; None where there is no answer."""
    names = {number: piece for piece, number in vocabulary._ids.items()}
    rows = zip(windows.ids, windows.starts, windows.ends, windows.kinds, strict=True)
    return [
        None if kind == Kind.NULL else " ".join(names[one] for one in ids[start : end + 1])
        for ids, start, end, kind in rows
    ]


NESTED = [
    ("P", "a load of salt and wine", []),
    ("Table", "the ship", [("Tr", "sailed on july 23 , 1869 to trieste", [])]),
]


def test_an_answer_in_a_nested_box_is_found_in_the_box_around_it(tmp_path, small):
    example = example_of(tmp_path, record(NESTED, answer=2, shorts=["july 23 ,"]))
    windows = windows_of(example, small, Shape(length=64))
    assert answer_texts(example, windows, small) == ["july 23 ,"]
    assert windows.kinds.tolist() == [Kind.SHORT]


def test_as_published_it_is_looked_for_at_the_start_of_the_page(tmp_path, small):
    example = example_of(tmp_path, record(NESTED, answer=2, shorts=["july 23 ,"]))
    windows = windows_of(example, small, Shape(length=64, as_published=True))
    (text,) = answer_texts(example, windows, small)
    assert "july" not in text
    assert text.startswith("[ContextId=-1]")


def test_an_answer_after_the_last_box_that_is_written_out_is_none_unless_as_published(tmp_path, small):
    boxes = [("P", "a load of wine", [])] * 47 + [("P", "the ship sailed on july 23 , 1869", [])]
    example = example_of(tmp_path, record(boxes, answer=47, shorts=["july 23 ,"]))
    right = windows_of(example, small, SHORT)
    assert set(right.kinds.tolist()) == {Kind.NULL}
    wrong = windows_of(example, small, Shape(length=32, stride=8, as_published=True))
    texts = [text for text in answer_texts(example, wrong, small) if text is not None]
    assert texts and "july" not in texts[0]


def test_several_short_answers_are_the_smallest_span_that_holds_them(tmp_path, small):
    made = record(
        [("P", "the ship sailed on july 23 , to trieste in 1869", [])], answer=0, shorts=["in 1869", "july 23"]
    )
    example = example_of(tmp_path, made)
    assert answer_texts(example, windows_of(example, small, Shape(length=64)), small) == [
        "july 23 , to trieste in 1869"
    ]


@pytest.mark.parametrize(("yes_no", "kind"), [("YES", Kind.YES), ("NO", Kind.NO), ("NONE", Kind.LONG)])
def test_without_short_answers_the_whole_box_is_the_answer(tmp_path, small, yes_no, kind):
    made = record([("P", "a load", []), ("P", "the ship sailed to trieste", [])], answer=1, yes_no=yes_no)
    example = example_of(tmp_path, made)
    windows = windows_of(example, small, Shape(length=64))
    assert windows.kinds.tolist() == [kind]
    assert answer_texts(example, windows, small) == ["the ship sailed to trieste"]


def test_of_a_long_question_the_end_is_kept_and_nulls_are_drawn_by_seed(tmp_path, small):
    made = record([("P", "the ship sailed on july 23 , to trieste " * 20, [])], answer=0, question="who saw it " * 40)
    example = example_of(tmp_path, made)
    windows = windows_of(example, small, Shape(length=128, stride=16))
    assert small["[Q]"] not in windows.ids
    assert (windows.ids[:, 1:65] == windows.ids[0, 1:65]).all()
    assert windows.kept(1.0, 3).kinds.tolist() == windows.kinds.tolist()
    few, same, other = (windows.kept(0.3, seed) for seed in (3, 3, 4))
    assert 0 < len(few.kinds) < len(windows.kinds)
    assert np.array_equal(few.ids, same.ids)
    assert not np.array_equal(few.ids, other.ids)


@pytest.mark.shared
@pytest.mark.parametrize("shape", [(512, 128), (384, 128), (128, 64)])
def test_windows_of_a_real_record_are_those_of_the_slow_way(shared, shape):
    rows = (shared / "bert-joint-vocab-nq.txt").read_text().splitlines()
    names = {piece: number for number, piece in enumerate(rows)}
    path = shared / "nq-original/trade-winds.json"
    (example,) = read_examples([path])
    windows = windows_of(example, vocabulary_read(shared / "bert-joint-vocab-nq.txt"), Shape(*shape))
    expected = list(published.windows(json.loads(path.read_text()), names, *shape))
    assert len(expected) == len(windows.kinds)
    for number, (ids, segments, tokens, first, last, kind) in enumerate(expected):
        assert windows.ids[number].tolist() == [names[piece] for piece in ids]
        assert windows.segments[number].tolist() == segments
        assert windows.tokens[number].tolist() == tokens
        assert (windows.starts[number], windows.ends[number], windows.kinds[number]) == (first, last, kind)


@pytest.mark.shared
def test_the_published_example_has_the_windows_that_the_published_code_makes(shared):
    (example,) = read_examples([shared / "nq-original/trade-winds.json"])
    vocabulary = vocabulary_read(shared / "bert-joint-vocab-nq.txt")
    for as_published in (False, True):
        windows = windows_of(example, vocabulary, Shape(as_published=as_published))
        assert np.bincount(windows.kinds, minlength=5).tolist() == [8, 0, 0, 1, 0]


@pytest.mark.shared
def test_the_simplified_format_is_read_too(shared):
    (example,) = read_examples([shared / "nq-simplified/email-marketing.json"])
    vocabulary = vocabulary_read(shared / "bert-joint-vocab-nq.txt")
    windows = windows_of(example, vocabulary, Shape())
    texts = {text for text in answer_texts(example, windows, vocabulary) if text}
    assert texts == {"a newsletter sent to an advertising firm ' s customers"}


def test_in_any_other_vocabulary_the_markup_takes_unused_rows(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *(f"[unused{number}]" for number in range(len(MARKUP) + 5)), *WORDS]))
    vocabulary = vocabulary_read(path)
    assert [vocabulary[name] for name in MARKUP] == list(range(4, 4 + len(MARKUP)))
    assert vocabulary["[unused0]"] == vocabulary["[UNK]"]
    assert vocabulary.pieces("salted") == (vocabulary["salt"], vocabulary["##ed"])
    assert vocabulary.pieces("[1]") == (vocabulary["[UNK]"],)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (SPECIAL[:2], r"lacks \[CLS\], \[SEP\]"),
        ([*SPECIAL, "[unused0]"], "has 1 rows"),
        (None, "can't be read"),
    ],
)
def test_a_vocabulary_that_is_none_ends_with_a_sentence(tmp_path, rows, said):
    path = tmp_path / "vocab.txt"
    if rows is not None:
        path.write_text("\n".join(rows))
    with pytest.raises(EvaluationError, match=said):
        vocabulary_read(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"example_id": "x"}, "isn't an example"),
        ({"document_tokens": [1]}, "isn't an example"),
        ({"long_answer_candidates": [{"start_token": 5, "end_token": 900, "top_level": True}]}, "outside the"),
        (
            {"annotations": [{"long_answer": {"candidate_index": 9}, "short_answers": [], "yes_no_answer": "NONE"}]},
            "box 9",
        ),
        ({"question_text": None, "long_answer_candidates": None}, "isn't an example"),
    ],
)
def test_a_wrong_record_ends_with_a_sentence_that_names_the_line(tmp_path, change, said):
    path = tmp_path / "nq.jsonl"
    path.write_text(json.dumps(record(NESTED) | change))
    with pytest.raises(EvaluationError, match=f"line 1.*{said}"):
        list(read_examples([path]))


def test_an_empty_page_is_one_window_without_an_answer(tmp_path, small):
    example = example_of(tmp_path, record([]))
    windows = windows_of(example, small, SHORT)
    assert windows.kinds.tolist() == [Kind.NULL]
    assert Path(tmp_path / "nq.jsonl").exists()


def test_a_page_of_ten_megabytes_is_cut_like_any_other(small, tmp_path):
    words = 2_500_000
    record = {
        "example_id": 1,
        "question_text": "when",
        "document_text": "ship " * words,
        "long_answer_candidates": [{"start_token": 0, "end_token": words, "top_level": True}],
        "annotations": [
            {
                "long_answer": {"candidate_index": 0},
                "short_answers": [{"start_token": words - 5, "end_token": words - 4}],
                "yes_no_answer": "NONE",
            }
        ],
    }
    path = tmp_path / "page.jsonl"
    path.write_text(json.dumps(record))
    (example,) = read_examples([path])
    found = windows_of(example, small, Shape(length=512, stride=400)).kept(0, 1)
    assert len(found.kinds) == 1
    assert found.tokens[0, found.starts[0]] == words - 5
