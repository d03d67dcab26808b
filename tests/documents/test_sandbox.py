"""A hostile page costs itself and nobody else."""

import io
import os
import signal
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from documents.html.errors import DocumentError, EmptyPage, LimitExceeded, NotText
from documents.html.sandbox import Limits, PageParser, parsed_in_order
from documents.html.tokens import CandidateRules
from documents.intake import read_folder, read_pages

GOOD = b"<p>one two three</p>"


def test_the_parser_goes_on_after_every_kind_of_bad_page():
    with PageParser(limits=Limits(max_bytes=10_000, max_depth=50, max_nodes=500)) as parser:
        for bad, error in [
            (b"\xff", NotText),
            (b"<p></p>", EmptyPage),
            (b"x" * 10_001, LimitExceeded),
            (b"<div>" * 100 + b"x", LimitExceeded),
            (b"<b>x</b>" * 600, LimitExceeded),
        ]:
            with pytest.raises(error):
                parser.parse(bad)
            assert parser.parse(GOOD).tokenization.candidates


def test_a_page_that_takes_too_long_is_given_up():
    with PageParser(limits=Limits(seconds=0.001)) as parser, pytest.raises(LimitExceeded, match="within"):
        parser.parse(GOOD * 20_000)


def test_a_page_that_waits_for_a_busy_machine_is_not_given_up():
    with PageParser(limits=Limits(seconds=0.4)) as parser, ThreadPoolExecutor() as pool:
        parser.parse(GOOD)
        os.kill(parser._child.pid, signal.SIGSTOP)
        waiting = pool.submit(parser.parse, GOOD)
        time.sleep(0.6)
        os.kill(parser._child.pid, signal.SIGCONT)
        assert waiting.result().tokenization.candidates


def test_pages_parsed_at_once_come_in_their_order():
    raws = [b"<p>" + b"word " * (5000 // (number + 1)) + b"</p>" for number in range(9)]
    raws[4] = b"\xff"
    results = list(parsed_in_order(raws, lambda raw: raw, CandidateRules(), Limits()))
    assert [raw for raw, _ in results] == raws
    assert isinstance(results[4][1], NotText)
    assert [parsed.text.encode() for _, parsed in results if not isinstance(parsed, NotText)] == raws[:4] + raws[5:]


def test_a_page_that_takes_too_much_memory_is_given_up():
    with PageParser(limits=Limits(memory_bytes=150 * 2**20)) as parser, pytest.raises(LimitExceeded, match="memory"):
        parser.parse(b"<p>x y" * 500_000)


def test_pages_come_from_zip_jsonl_folder_and_file(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a/one.html", GOOD)
        file.writestr("../../two.htm", GOOD)
        file.writestr("notes.txt", "no page")
    assert [page.name for page in read_pages(archive, "pages.zip", max_bytes=99)] == ["a/one.html", "../../two.htm"]
    lines = io.BytesIO(b'{"html": "<p>x</p>", "url": "http://u", "title": "T"}\nnonsense\n{"url": "only"}\n')
    pages = list(read_pages(lines, "pages.jsonl", max_bytes=99))
    assert (pages[0].name, pages[0].title) == ("http://u", "T")
    assert ["not JSON" in pages[1].error, "field html" in pages[2].error] == [True, True]
    assert pages[2].where == "pages.jsonl, line 3"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/p.html").write_bytes(GOOD)
    assert [page.name for page in read_folder(tmp_path, max_bytes=99)] == ["sub/p.html"]
    assert next(read_pages(io.BytesIO(GOOD), "p.HTML", max_bytes=99)).raw == GOOD


def test_a_file_of_another_kind_is_refused_by_name():
    with pytest.raises(DocumentError, match=r"paper\.pdf"):
        list(read_pages(io.BytesIO(b""), "paper.pdf", max_bytes=9))
    with pytest.raises(DocumentError, match="not a zip"):
        list(read_pages(io.BytesIO(b"x"), "p.zip", max_bytes=9))
