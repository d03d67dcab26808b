"""The validator takes what was published and names what is wrong with each broken variant."""

import copy
import gzip
import json

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.html import published_rules
from documents.html.published_rules import Checker


def first(record, path):
    for name in path:
        record = record[name]
    return record


def setter(*path):
    *parents, last = path[:-1]

    def change(record):
        first(record, parents)[last] = path[-1]

    return change


def delete(*path):
    return lambda record: first(record, path[:-1]).pop(path[-1])


def _overlap(record):
    span = record["annotations"][3]["short_answers"][0]
    record["annotations"][3]["short_answers"].append(dict(span))


def _tag_only_span(record):
    tokens = record["document_tokens"]
    box = record["annotations"][3]["long_answer"]
    index = box["start_token"]
    record["annotations"][3]["short_answers"] = [
        {
            "start_token": index,
            "end_token": index + 1,
            "start_byte": tokens[index]["start_byte"],
            "end_byte": tokens[index]["end_byte"],
        }
    ]


def _reorder(record):
    boxes = record["long_answer_candidates"]
    boxes[4], boxes[5] = boxes[5], boxes[4]


def _shift_token(record):
    record["document_tokens"][100]["start_byte"] -= 3


SHORT = ("annotations", 3, "short_answers", 0)
LONG = ("annotations", 3, "long_answer")
# (what is changed, a field the errors must name)
BROKEN = {
    "no annotations": (delete("annotations"), "annotations"),
    "no title": (delete("document_title"), "document_title"),
    "id as text": (setter("example_id", "5225754983651766092"), "example_id"),
    "id too large": (setter("example_id", 2**63), "example_id"),
    "empty question": (setter("question_text", " "), "question_text"),
    "blank in a question token": (setter("question_tokens", 0, "two words"), "question_tokens[0]"),
    "no tokens": (setter("document_tokens", []), "document_tokens"),
    "empty token": (setter("document_tokens", 7, "token", ""), "document_tokens[7].token"),
    "blank in a token": (setter("document_tokens", 7, "token", "a\u202fb"), "document_tokens[7].token"),
    "token outside the page": (setter("document_tokens", 2982, "end_byte", 10**7), "document_tokens[2982].start_byte"),
    "tokens run into each other": (_shift_token, "document_tokens[100].start_byte"),
    "tag in lower case": (setter("document_tokens", 4, "token", "<h1>"), "document_tokens[4].token"),
    "word marked as a tag": (setter("document_tokens", 1, "html_token", True), "document_tokens[1].start_byte"),
    "candidates out of order": (_reorder, "long_answer_candidates[5].start_token"),
    "candidate bytes off": (
        setter("long_answer_candidates", 2, "end_byte", 49619),
        "long_answer_candidates[2].end_byte",
    ),
    "candidate starts at a word": (
        setter(
            "long_answer_candidates",
            0,
            {"start_token": 45, "end_token": 161, "start_byte": 43181, "end_byte": 44666, "top_level": True},
        ),
        "long_answer_candidates[0].start_token",
    ),
    "top_level wrong": (setter("long_answer_candidates", 3, "top_level", False), "long_answer_candidates[3].top_level"),
    "annotation id too large": (setter("annotations", 0, "annotation_id", 2**64), "annotations[0].annotation_id"),
    "annotation id twice": (
        setter("annotations", 0, "annotation_id", 13037645000009169623),
        "annotations[1].annotation_id",
    ),
    "long answer is another box": (setter(*LONG, "candidate_index", 1), "annotations[3].long_answer.end_byte"),
    "no such candidate": (setter(*LONG, "candidate_index", 10), "annotations[3].long_answer.candidate_index"),
    "half a null answer": (
        setter("annotations", 0, "long_answer", "start_byte", 5),
        "annotations[0].long_answer.start_byte",
    ),
    "yes in lower case": (setter("annotations", 3, "yes_no_answer", "yes"), "annotations[3].yes_no_answer"),
    "yes beside a span": (setter("annotations", 3, "yes_no_answer", "YES"), "annotations[3].yes_no_answer"),
    "short answer without a long one": (
        setter("annotations", 0, "yes_no_answer", "NO"),
        "annotations[0].short_answers",
    ),
    "short answer outside": (
        setter(
            "annotations", 3, "short_answers", 0, {"start_token": 8, "end_token": 9, "start_byte": 0, "end_byte": 1}
        ),
        "annotations[3].short_answers[0]",
    ),
    "empty span": (setter(*SHORT, "end_token", 140), "annotations[3].short_answers[0].start_token"),
    "one-sided span": (setter(*SHORT, "end_token", -1), "annotations[3].short_answers[0].start_token"),
    "span bytes off": (setter(*SHORT, "start_byte", 44319), "annotations[3].short_answers[0].start_byte"),
    "span as null": (setter(*SHORT, "start_token", None), "annotations[3].short_answers[0].start_token"),
    "spans overlap": (_overlap, "annotations[3].short_answers[1].start_token"),
    "span of tags only": (_tag_only_span, "annotations[3].short_answers[0].start_token"),
}


@pytest.fixture(scope="module")
def published(request):
    from tests.conftest import SHARED

    return json.loads((SHARED / "data/nq-original/trade-winds.json").read_text())


@pytest.mark.shared
def test_the_published_files_are_valid(shared, capsys):
    call_command("validate_nq", str(shared / "nq-original/trade-winds.json"))
    call_command("validate_nq", str(shared / "nq-simplified/email-marketing.json"))
    assert capsys.readouterr().out.count("1 records, all valid") == 2


@pytest.mark.shared
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_variant_is_refused_with_its_field(published, name):
    change, field = BROKEN[name]
    record = copy.deepcopy(published)
    assert not list(Checker().problems(record))
    change(record)
    found = [where for where, _ in Checker().problems(record)]
    assert any(where.startswith(field) for where in found), found


@pytest.mark.shared
def test_ids_are_unique_over_all_files_and_errors_name_file_and_line(published, tmp_path, capsys):
    path = tmp_path / "two.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(published) + "\n").encode() * 2))
    with pytest.raises(CommandError):
        call_command("validate_nq", str(path))
    assert f"{path}:2: example_id: 5225754983651766092 stands twice in this set" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "fields"),
    [(b"{not json}\n", ["line"]), (b"[1]\n", ["line"]), (b"\x1f\x8bnot gzip", ["file"]), (b"", [])],
)
def test_a_file_that_holds_no_record_fails(tmp_path, content, fields, capsys):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="no record was found" if not fields else "1 errors in 0 records"):
        call_command("validate_nq", str(path), "--json")
    assert [error["field"] for error in json.loads(capsys.readouterr().out)["errors"]] == fields


def test_a_missing_file_fails_with_its_name(tmp_path, capsys):
    with pytest.raises(CommandError):
        call_command("validate_nq", str(tmp_path / "nowhere.jsonl"))
    assert "nowhere.jsonl" in capsys.readouterr().out


PIECES = st.sampled_from(
    ["a", "é", "数据", "<P>", "</P>", "<Table>", "</Table>", '<Td colspan="2">', "b c", "", "<p>", "</Li>"]
)


@st.composite
def tokens_of_a_page(draw):
    """Return a record whose tokens may break any rule, and often break none."""
    texts = draw(st.lists(PIECES, max_size=6))
    html, tokens = "", []
    for text in texts:
        start = len(html.encode())
        html += text
        token = {"token": text, "start_byte": start, "end_byte": len(html.encode()), "html_token": text.startswith("<")}
        if draw(st.integers(0, 9)) == 0:
            name = draw(st.sampled_from(list(token)))
            token[name] = draw(st.sampled_from([None, True, False, -1, 0, 1, 3, 99, "x", "x y", 1.5]))
        if draw(st.integers(0, 29)) == 0:
            token.pop(draw(st.sampled_from(list(token))))
        tokens.append(token if draw(st.integers(0, 29)) else None)
        html += draw(st.sampled_from(["", " "]))
    return {"document_tokens": tokens, "document_html": html}


@pytest.mark.slow
@given(tokens_of_a_page())
@settings(max_examples=1500)
def test_the_quick_look_at_tokens_passes_what_the_slow_one_passes_and_nothing_else(record):
    assert published_rules._tokens_hold(record) == (not list(published_rules._tokens(record)))
