"""Labels and annotators of anyone's crowd: the rules, and the command that reports on a file."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from measures.aggregation import entropy, majority, wawa
from measures.comparison import foresight
from measures.judgment_files import JudgmentFileError, judgments_read, truths_read
from measures.judgments import Repeats, judgments_of
from measures.label_models import dawid_skene
from measures.reliability import hit_rate, peer_agreement
from measures.reports import crowd_report
from tests.measures import crowds

# Accuracy against what is known: vote with ties broken at random, the model of 1979 (shared facts, section 4.2), and the
# same with four judgments of an average annotator added to each one's own.
FIGURES = {
    "web": (0.731, 0.822, 0.830),
    "rte": (0.896, 0.928, 0.923),
    "dog": (0.822, 0.843, 0.840),
    "bluebird": (0.759, 0.898, 0.898),
    "d_sentiment": (0.932, 0.960, 0.958),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", crowds.NAMES)
def test_published_crowds_give_the_published_accuracy(shared, name):
    judgments, truth = crowds.real(shared, name)
    found = crowd_report(judgments, truth=truth)
    vote, published, model = FIGURES[name]
    assert found["majority"]["accuracy"] == pytest.approx(vote, abs=0.004)
    assert found["dawid_skene"]["accuracy"] == pytest.approx(model, abs=0.001)
    assert found["dawid_skene"]["converged"]
    best = dawid_skene(judgments, shrinkage=0).best(judgments)
    assert np.mean([str(best[item]) == str(label) for item, label in truth.items() if item in best]) == pytest.approx(
        published, abs=0.001
    )
    # And it is right to, on these five. One split of ten spoke for the vote on web, before average judgments were added.
    assert found["foresight"]["prefers_model"] and found["foresight"]["is_clear"]


@pytest.mark.peers
def test_the_model_says_what_crowd_kit_says():
    judgments, _ = crowds.crossed(np.random.default_rng(5), items=300, people=40, votes=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports and calls
        import pandas as pd
        from crowdkit.aggregation import DawidSkene

        said = np.array(judgments.labels)[judgments.label]
        table = pd.DataFrame({"task": judgments.item, "worker": judgments.annotator, "label": said})
        theirs = DawidSkene(n_iter=100, tol=1e-7).fit_predict(table)
    ours = dawid_skene(judgments, smoothing=1e-9, shrinkage=0).best(judgments)
    assert np.mean([theirs[item] == label for item, label in ours.items()]) >= 0.98


def test_an_annotator_who_always_says_the_opposite_is_understood():
    rows = []
    for number in range(60):
        right = number % 2
        rows += [(number, "good", right), (number, "better", right), (number, "contrary", 1 - right)]
    judgments = judgments_of(rows)
    model = dawid_skene(judgments, shrinkage=0)
    assert model.best(judgments) == {number: number % 2 for number in range(60)}
    assert model.confusion[judgments.annotators.index("contrary")].diagonal() == pytest.approx(0.0, abs=0.01)
    assert model.accuracy() == pytest.approx([1, 1, 0], abs=0.01)
    assert model.posterior.sum(axis=1) == pytest.approx(1.0)
    assert model.confusion.sum(axis=2) == pytest.approx(1.0)


def test_annotators_with_few_judgments_are_not_mistaken_for_experts_or_liars():
    """Three judgments each: the model of 1979 believes in chance; a report uses the one that doesn't."""
    chance = np.random.default_rng(8)
    items, votes = 600, 5
    truth = chance.integers(0, 3, items)
    item = np.repeat(np.arange(items), votes)
    who = chance.permutation(np.arange(items * votes) // 3)
    said = np.where(chance.random(len(item)) < 0.62, truth[item], chance.integers(0, 3, len(item)))
    judgments = judgments_of(list(zip(item.tolist(), who.tolist(), said.tolist(), strict=True)), repeats=Repeats.LAST)
    found = crowd_report(judgments, truth=dict(enumerate(truth.tolist())))
    plain = dawid_skene(judgments, shrinkage=0).best(judgments)
    of_1979 = np.mean([plain[place] == label for place, label in enumerate(truth.tolist())])
    assert found["dawid_skene"]["accuracy"] > of_1979 + 0.1
    assert found["dawid_skene"]["accuracy"] > found["majority"]["accuracy"] - 0.02


def test_the_model_says_whether_it_came_to_an_end():
    judgments, _ = crowds.crossed(np.random.default_rng(1), items=200, people=20, votes=3)
    ended, cut = dawid_skene(judgments), dawid_skene(judgments, most_rounds=3)
    assert (ended.converged, cut.converged, cut.rounds) == (True, False, 3)
    assert ended.log_likelihood > cut.log_likelihood
    with pytest.raises(ValueError, match="no judgments"):
        dawid_skene(judgments_of([]))


def test_ties_stay_ties_and_reliable_annotators_weigh_more():
    rows = [("tied", "a", 1), ("tied", "b", 2)]
    for number in range(5):
        rows += [(number, "a", 1), (number, "c", 1), (number, "d", 1), (number, "b", 2)]
    judgments = judgments_of(rows)
    plain, (weighted, weight) = majority(judgments), wawa(judgments)
    assert plain.tied.tolist() == [True, *[False] * 5]
    assert plain.wins[0].tolist() == [True, True]
    assert weight.round(3).tolist() == [0.917, 0.083, 1.0, 1.0]
    assert weighted.wins[0].tolist() == [True, False]
    assert entropy(plain.shares()).round(3).tolist() == [1.0, *[0.811] * 5]


def test_agreement_with_peers_leaves_ones_own_judgment_out():
    judgments = judgments_of([(1, "a", 1), (1, "b", 1), (1, "c", 2), (2, "a", 1), (2, "b", 2), (3, "c", 1)])
    found = peer_agreement(judgments)
    assert found.rate.tolist() == [0.25, 0.25, 0.0]
    assert found.of.tolist() == [2, 2, 1]
    known = hit_rate(judgments, {1: 1, 2: 2, 9: 1})
    assert known.rate.tolist() == [0.5, 1.0, 0.0]
    nobody = hit_rate(judgments, {})
    assert np.isnan(nobody.rate).all() and not nobody.of.any()


def test_nothing_held_out_nothing_foreseen():
    found = foresight(judgments_of([("a", "x", 1)]))
    assert found.held_out == 0 and not found.prefers_model and not found.is_clear


def test_the_advice_comes_from_several_splits_and_says_when_it_is_open():
    judgments, _ = crowds.crossed(np.random.default_rng(3), items=60, people=12, votes=3, labels=2)
    one, ten = foresight(judgments, splits=1), foresight(judgments)
    assert one.spread is None and not one.is_clear
    assert ten.spread > 0 and ten.held_out > 5 * one.held_out
    assert not ten.is_clear  # sixty items are too few to say


@pytest.fixture
def written(tmp_path):
    def write(text, name="labels.csv") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


LABELS = "item,worker,label,seconds\nq1,ann,1,2\nq1,bo,1,4\nq2,ann,2,6\nq2,bo,1,8\nq3,ann,1,1\nq3,bo,1,3\n"


def test_the_command_reports_as_json(written, capsys):
    truth = written("item,truth\nq1,1\nq2,2\nq9,1\n", "truth.csv")
    call_command("crowd_report", str(written(LABELS)), "--truth", str(truth), "--level", "ordinal", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["items"], found["annotators"], found["judgments"], found["truths"]) == (3, 2, 6, 2)
    assert found["alpha"] == pytest.approx(0.0)
    assert found["majority"] == {"accuracy": 0.75, "tied": 1}
    assert set(found["dawid_skene"]) >= {"accuracy", "converged", "rounds"}
    ann, bo = found["annotator_table"]
    assert (ann["median_seconds"], bo["median_seconds"]) == (2, 4)
    assert [row["item"] for row in found["item_table"]] == ["q1", "q2", "q3"]
    assert found["item_table"][1]["tied"] == ["1", "2"]
    assert found["item_table"][1]["truth"] == "2"


def test_the_command_reports_to_people(written, capsys):
    call_command("crowd_report", str(written(f"{LABELS}q3,bo,2,3\n")))
    out = capsys.readouterr().out
    assert "6 judgments of 3 items by 2 annotators, 2 labels; 1 repeated ones left out" in out
    assert "Dawid-Skene converged" in out
    assert "accuracy" not in out.split("\n\n")[0]


def test_the_command_writes_a_page_that_needs_nothing_else(written, tmp_path):
    judgments, truth = crowds.crossed(np.random.default_rng(5), items=60, people=9, votes=4)
    rows = zip(judgments.item, judgments.annotator, judgments.label, strict=True)
    lines = [f"q{item},<b>w{who}</b>,{judgments.labels[label]}" for item, who, label in rows]
    known = [f"q{item},{label}" for item, label in list(enumerate(truth))[:30]]
    page = tmp_path / "report.html"
    call_command(
        "crowd_report",
        str(written("\n".join(["item,worker,label", *lines]))),
        "--html",
        str(page),
        "--truth",
        str(written("\n".join(["item,truth", *known]), "truth.csv")),
    )
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert "Krippendorff" in text
    assert "Errors on items with a known answer" in text
    assert "<b>" not in text  # what the file says is text
    assert not re.findall(r'(?:src|href)="(?!#)', text.replace("xlink:href", "href"))
    with pytest.raises(CommandError, match="No such file"):
        call_command("crowd_report", str(written(LABELS)), "--html", str(tmp_path / "nowhere" / "page.html"))


def test_a_page_of_a_very_large_crowd_draws_a_part_of_it_and_says_so(written, tmp_path, monkeypatch):
    monkeypatch.setattr("measures.charts.crowd.MOST_DRAWN", 10)
    busy = [f"q{n % 40},busy{n // 40},{n % 3}" for n in range(40 * 20)]
    rows = [*busy, *(f"q{n},rare{n},{n % 3}" for n in range(30))]
    page = tmp_path / "report.html"
    truth = written("item,truth\n" + "".join(f"q{n},0\n" for n in range(40)), "truth.csv")
    labels = written("\n".join(["item,worker,label", *rows]))
    call_command("crowd_report", str(labels), "--html", str(page), "--truth", str(truth))
    text = page.read_text(encoding="utf-8")
    assert text.count("Drawn: 10, of the others those with the most judgments.</p>") == 2
    assert text.count("<td>busy") + text.count("<td>rare") == 2 * 10


def test_a_page_of_hardly_any_judgments_has_no_charts_and_no_error(written, tmp_path):
    page = tmp_path / "report.html"
    call_command("crowd_report", str(written("item,worker,label\nq1,ann,1\n")), "--html", str(page))
    assert "<svg" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,person,label\na,b,1\n", "line 1: no column worker or annotator; there are item, person, label"),
        ("item,worker,label\na,b,1\na,,2\n", "line 3, column worker: is empty"),
        ("item,worker,label\na,b\n", "line 2: the header has 3 columns, this row 2"),
        ("item,worker,label,seconds\na,b,1,soon\n", "line 2, column seconds: 'soon' is not a number"),
        ("item,worker,label\n", "no judgments"),
        ("", "line 1: no column item; there are none"),
        ("item,worker,label\na,b," + "1" * 200_000, "line 2, column label: longer than 10,000 characters"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_by_line_and_column(written, text, message):
    with pytest.raises(JudgmentFileError, match=message):
        judgments_read(written(text))


def test_the_command_refuses_what_it_cannot_use(written, tmp_path):
    labels = written(LABELS)
    with pytest.raises(JudgmentFileError, match="line 3, column truth: '2', but 'a' was '1' before"):
        truths_read(written("item,truth\na,1\na,2\n", "truth.csv"), judgments_read(labels))
    with pytest.raises(CommandError, match="No such file"):
        call_command("crowd_report", str(tmp_path / "nothing.csv"))
    with pytest.raises(CommandError, match="'ann' judged 'q1' twice"):
        call_command("crowd_report", str(written(f"{LABELS}q1,ann,1,1\n", "twice.csv")), "--repeats", "refuse")
    with pytest.raises(CommandError, match=r"'yes' is not a number\. At interval level"):
        call_command("crowd_report", str(written("item,worker,label\na,b,yes\n", "texts.csv")), "--level", "interval")
    call_command("crowd_report", str(labels), "--level", "interval")


def test_free_text_in_the_column_of_labels_is_refused_before_tables_of_it_fill_the_memory(written):
    rows = (f"i{n % 1000},w{n % 100},l{n % 3000}\n" for n in range(3000))
    with pytest.raises(CommandError, match=r"column label: 3,000 different labels by 100 annotators .* right column"):
        call_command("crowd_report", str(written("item,worker,label\n" + "".join(rows))))
