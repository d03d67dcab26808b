"""Questions and pages: the first Wikipedia article among the first five results, else none."""

import json

import pytest
from django.core.management import CommandError

from sources.rules.faults import RecordFault
from sources.rules.pages import addresses_of, wikipedia_page
from sources.steps.pages import document_name
from tests import factories
from tests.sources.files import lines, rows, step

WIKI = "https://en.wikipedia.org/wiki/"


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["https://x.org", f"{WIKI}Lund_Cathedral"], (2, f"{WIKI}Lund_Cathedral", "Lund Cathedral")),
        (["https://en.m.wikipedia.org/wiki/H%C3%B6je_%C3%A5?x=1#y"], (1, f"{WIKI}Höje_å", "Höje å")),
        ([f"{WIKI}AC/DC"], (1, f"{WIKI}AC/DC", "AC/DC")),
        ([f"{WIKI}Mission:_Impossible"], (1, f"{WIKI}Mission:_Impossible", "Mission: Impossible")),
        ([f"{WIKI}Talk:Lund", f"{WIKI}User_talk:Ek", f"{WIKI}Category:Towns", f"{WIKI}Special:Search"], None),
        (
            [
                "https://de.wikipedia.org/wiki/Lund",
                "https://en.wikipedia.org.evil.example/wiki/Lund",
                "ftp://en.wikipedia.org/wiki/Lund",
                "https://[",
                f"{WIKI}",
            ],
            None,
        ),
        ([*["https://x.org"] * 5, f"{WIKI}Lund"], None),
    ],
)
def test_the_first_article_among_the_first_five(addresses, expected):
    assert wikipedia_page(addresses, language="en") == expected


@pytest.mark.parametrize(
    "row",
    [
        {"results": ["u"]},
        {"items": [{"link": "u"}]},
        {"organic_results": [{"href": "u"}]},
        {"webPages": {"value": [{"url": "u"}]}},
    ],
)
def test_results_of_several_engines_are_read(row):
    assert addresses_of(row) == ["u"]


@pytest.mark.parametrize("row", [{}, {"results": "u"}, {"results": [3]}, {"results": [{"title": "u"}]}])
def test_what_holds_no_results_is_refused(row):
    with pytest.raises(RecordFault):
        addresses_of(row)


@pytest.fixture
def paired(tmp_path):
    questions = lines(
        tmp_path / "kept.jsonl",
        [
            {"id": "q1", "question": "who built the harbour of lund", "origin": {"row": 4}},
            {"id": "q2", "question": "no results"},
            {"id": "q3", "question": "no page"},
            {"id": "q4", "question": "who built the harbour of lund"},
            {"question": "by its text"},
        ],
    )
    results = lines(
        tmp_path / "results.jsonl",
        [
            {"id": "q1", "results": [{"url": "https://x.org"}, {"url": f"{WIKI}Harbour"}]},
            {"id": "q3", "results": []},
            {"id": "q4", "results": [f"{WIKI}Harbour"]},
            {"query": "by its  text", "results": [f"{WIKI}Harbour"]},
        ],
    )
    return questions, results


def test_questions_are_paired_each_once_and_lead_back(paired, tmp_path):
    report = step("pages", "--questions", paired[0], "--results", paired[1], "--to", tmp_path / "to")
    assert (report["read"], report["kept"], report["pages"]) == (5, 2, 1)
    assert report["dropped"] == {"no results": 1, "no page": 1, "question stands twice": 1}
    assert report["ranks"] == {"1": 1, "2": 1, "3": 0, "4": 0, "5": 0}
    first, second = rows(tmp_path / "to" / "kept.jsonl")
    assert (first["document"], first["rank"], first["origin"]["before"]) == ("Harbour.html", 2, {"row": 4})
    assert second["id"] == "by its text"
    assert (tmp_path / "to" / "addresses.txt").read_text() == f"{WIKI}Harbour\n"
    assert [row["why"] for row in rows(tmp_path / "to" / "dropped.jsonl")] == [
        "no results",
        "no page",
        "question stands twice",
    ]


def test_results_that_stand_twice_are_refused(paired, tmp_path):
    lines(paired[1], [{"id": "q1", "results": []}, {"id": "q1", "results": []}])
    with pytest.raises(CommandError, match="row 2: q1 stands in an earlier row"):
        step("pages", "--questions", paired[0], "--results", paired[1], "--to", tmp_path / "to")


def test_titles_are_names_of_files():
    assert document_name('AC/DC: "Live"?') == "AC_DC_ _Live__.html"


@pytest.mark.django_db
def test_what_was_paired_is_imported_with_its_page(paired, tmp_path):
    step("pages", "--questions", paired[0], "--results", paired[1], "--to", tmp_path / "to")
    campaign = factories.campaign()
    factories.import_page(campaign, name="Harbour.html")
    factories.import_rows(campaign, rows(tmp_path / "to" / "kept.jsonl"))
    assert campaign.items.count() == 2
    assert json.loads(campaign.items.order_by("pk").first().origin)["file"] == "kept.jsonl"
