"""The five heuristics of Natural Questions: its own examples, by both taggers; 200 labeled queries; the real questions."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError

from perf.heuristics import TAGGERS, labelled, measured, read_queries
from sources.rules.hearst import instances, singular
from sources.rules.heuristics import RULES, phrases_of, rules_of
from sources.rules.words import Word
from sources.steps import heuristics
from sources.steps.heuristics import common_kinds
from sources.tagging.base import TaggerMissing
from sources.tagging.lexicon import LexiconTagger
from tests.sources.files import lines, rows, step

# Table 1 of the paper: the rule, and the query that it matches.
TABLE_1 = {
    "1a": "where does the nature conservancy get its funding",
    "1b": "who is the song killing me softly written about",
    "2": "who owned most of the railroads in the 1800s",
    "4": "how far is chardon ohio from cleveland ohio",
    "5": "american comedian on have i got news for you",
}


@pytest.mark.peers
@pytest.mark.parametrize("rule", TABLE_1)
def test_the_examples_of_the_paper_are_matched_by_their_rules(rule):
    [words] = TAGGERS["spacy"]().tag([TABLE_1[rule]])
    assert rule in rules_of(words, common_kinds())


@pytest.mark.parametrize("rule", ["1a", "4", "5"])  # the others take verbs, and the lexicon says that it sees none
def test_the_lexicon_matches_what_it_can(rule):
    [words] = LexiconTagger().tag([TABLE_1[rule]])
    assert rule in rules_of(words, common_kinds())
    assert rule == "1a" or rule in LexiconTagger.cannot


def tagged(text, kinds=("city", "movie", "war", "singer")):
    [words] = TAGGERS["spacy"]().tag([text])
    return rules_of(words, kinds)


@pytest.mark.peers
@pytest.mark.parametrize(
    ("query", "holds", "holds_not"),
    [
        ("who does the dishes", {"1a", "2"}, {"1b"}),
        ("who is the king of sweden", set(), {"1a", "1b", "2"}),
        ("who has written most songs", {"1b", "2"}, {"1a"}),
        ("when can we go home", {"1a"}, {"2"}),
        ("why does it rain", set(), {"1a", "1b", "2"}),
        ("who", set(), set(RULES)),
        ("largest city in the movie", {"4"}, {"5"}),
        ("oldest swedish city", {"5"}, {"4"}),
        ("city", {"5"}, {"4"}),
    ],
)
def test_rules_by_hand(query, holds, holds_not):
    found = tagged(query)
    assert holds <= found and not holds_not & found


def test_phrases_are_runs_of_one_number():
    words = [
        Word("the", "the", "DET", phrase=0),
        Word("city", "city", "NOUN", phrase=0, is_head=True),
        Word("of", "of", "ADP"),
        Word("wars", "war", "NOUN", phrase=1, is_head=True),
    ]
    assert phrases_of(words) == [(0, 2, 1), (3, 4, 3)]


def test_hearst_patterns_by_hand():
    text = (
        "Cities such as Lund and towns including the Old Harbour. Such painters as Anna Ek. Lund, Ystad and other cities of the "
        "south; Gustav or other kings. A city such as Lund. People such as Ek. Ways such as These."
    )
    assert {(one.kind, one.name) for one in instances(text)} >= {
        ("town", "Old Harbour"),
        ("painter", "Anna Ek"),
        ("city", "Ystad"),
        ("king", "Gustav"),
    }
    assert not {"person", "way"} & {one.kind for one in instances(text)}


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("cities", "city"),
        ("churches", "church"),
        ("men", "man"),
        ("buses", "buse"),
        ("glass", "glass"),
        ("series", "series"),
        ("ties", "tie"),
    ],
)
def test_singular_by_the_ending(plural, one):
    assert singular(plural) == one


def test_kinds_of_a_corpus_are_those_of_several_names(tmp_path):
    corpus = lines(
        tmp_path / "corpus.txt",
        ["rivers such as Lagan and rivers such as Ätran", "lakes such as Vänern", "rivers such as Lagan"],
    )
    report = step("kinds", corpus, "--to", tmp_path / "to")
    assert (report["lines"], report["kinds"], report["rare"]) == (3, 1, 1)
    assert (tmp_path / "to" / "kinds.tsv").read_text() == "river\t2\tLagan | Ätran\n"


@pytest.fixture
def queries(tmp_path):
    return lines(
        tmp_path / "kept.jsonl",
        [
            *({"id": rule, "question": text, "origin": {"row": 7}} for rule, text in TABLE_1.items()),
            {"id": "no", "question": "how do i reset my password quickly today please"},
        ],
    )


@pytest.mark.peers
def test_the_step_says_what_each_rule_kept_alone_and_together(queries, tmp_path):
    report = step("heuristics", queries, "--to", tmp_path / "to")
    kept = {row["id"]: row for row in rows(tmp_path / "to" / "kept.jsonl")}
    assert all(rule in kept[rule]["rules"] for rule in TABLE_1) and "no" not in kept
    assert report["read"] == 6 and report["kept"] == 5 and report["dropped"] == 1
    assert report["alone"]["1a"] == 1 and report["samples"]["1a"] == [TABLE_1["1a"]]
    assert sum(report["holds"].values()) == sum(len(row["rules"]) for row in kept.values())
    assert kept["1a"]["origin"] == {"step": report["run"], "file": "kept.jsonl", "row": 1, "before": {"row": 7}}
    assert report["cannot"] == {} and "spacy 3." in report["parameters"]["tagger_version"]


@pytest.mark.peers
def test_rules_can_be_left_out_and_kinds_given(queries, tmp_path):
    assert step("heuristics", queries, "--rules", "1a,2", "--to", tmp_path / "two")["kept"] == 2
    kinds = lines(tmp_path / "kinds.tsv", ["river\t3\tLagan"])
    given = step("heuristics", queries, "--kinds", kinds, "--rules", "5", "--to", tmp_path / "rivers")
    assert given["kept"] == 0 and given["kinds"] == 1
    with pytest.raises(CommandError, match="there is no rule '6'"):
        step("heuristics", queries, "--rules", "1a,6", "--to", tmp_path / "six")


def test_the_lexicon_says_what_it_cannot_do(queries, tmp_path):
    report = step("heuristics", queries, "--tagger", "lexicon", "--to", tmp_path / "to")
    assert set(report["cannot"]) == {"1b", "2", "3", "4", "5"}
    assert "entities are not seen" in heuristics.text(report)


def test_without_the_extra_the_step_says_how_to_install_it(queries, tmp_path, monkeypatch):
    class Missing:
        def __init__(self):
            raise TaggerMissing("spaCy is not installed: pip install -r requirements-nlp.txt")

    monkeypatch.setitem(heuristics.TAGGERS, "spacy", Missing)
    heuristics._tagger.cache_clear()
    with pytest.raises(CommandError, match=r"requirements-nlp\.txt"):
        step("heuristics", queries, "--to", tmp_path / "to")
    heuristics._tagger.cache_clear()


DOCS = Path(__file__).parents[2] / "docs" / "explanation" / "question-heuristics.md"


@pytest.mark.shared
@pytest.mark.parametrize(
    "tagger", [pytest.param(name, marks=[pytest.mark.peers] if name == "spacy" else []) for name in TAGGERS]
)
def test_the_figures_in_the_docs_are_those_of_the_labels(shared, tagger):
    found = measured(labelled(read_queries(shared)), TAGGERS[tagger]())
    text = DOCS.read_text(encoding="utf-8")
    for row in found:
        assert row.line() in text, row.line()


@pytest.mark.peers
@pytest.mark.shared
def test_the_real_questions_go_through_with_a_report(shared, tmp_path):
    report = step("heuristics", shared / "questions" / "nq-open-dev.jsonl", "--to", tmp_path / "to")
    assert report["read"] == 3610 == report["kept"] + report["dropped"]
    told = re.search(r"Of the 3,610 real questions .* keep ([\d,]+)", DOCS.read_text(encoding="utf-8"))
    assert int(told[1].replace(",", "")) == report["kept"]
    assert json.dumps(report["samples"])
