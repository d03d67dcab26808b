"""`evaluate annotator`: the alternative annotator test of Calderon, Reichart and Dror (2025), by hand and by other software."""

import json
import random

import pytest
from scipy.stats import ttest_rel

from evaluation.annotator import alternative
from evaluation.annotator.alternative import Alignment, alternative_report
from evaluation.annotator.files import read_labels
from evaluation.files import EvaluationError


def crowd(seed=1, items=120, people=4, right=0.75, labels="1234"):
    """Return votes of people who are right so often, and what is right."""
    draw = random.Random(seed)
    truth = {f"q{n:03}": draw.choice(labels) for n in range(items)}
    votes = {
        item: {f"p{n}": label if draw.random() < right else draw.choice(labels) for n in range(people)}
        for item, label in truth.items()
    }
    return votes, truth


def outcome(votes, labels, epsilon=0.1, alignment=Alignment.ACCURACY):
    return alternative_report(votes, labels, epsilon=epsilon, alignment=alignment)


def test_the_shares_are_those_counted_by_hand(monkeypatch):
    monkeypatch.setattr(alternative, "FEWEST", 2)
    votes = {
        "a": {"ann": "1", "bo": "1", "cy": "2"},
        "b": {"ann": "2", "bo": "2", "cy": "2"},
        "c": {"ann": "3", "bo": "1", "cy": "1"},
        "d": {"ann": "4"},  # nobody to compare with
    }
    found = outcome(votes, {"a": "1", "b": "1", "c": "1", "d": "1"})
    rows = {row["annotator"]: (row["items"], row["model"], row["person"]) for row in found["compared"]}
    # Of ann's others: a: 1, 2 (model 1/2, ann 1/2); b: 2, 2 (0, 1); c: 1, 1 (1, 0).
    assert rows["ann"] == (3, pytest.approx(2 / 3), pytest.approx(2 / 3))
    # Of bo's: a: 1, 2 (1/2, 1/2); b: (0, 1); c: 3, 1 (1/2, 1/2).
    assert rows["bo"] == (3, pytest.approx(2 / 3), 1)
    # Of cy's: a: 1, 1 (1, 0); b: (0, 1); c: 3, 1 (1/2, 1/2).
    assert rows["cy"] == (3, pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (found["items"], found["annotators"], found["tested"], found["rho"]) == (4, 3, 3, pytest.approx(2 / 3))
    # The model says what a person says: a 2 of 3, b none, c 2 of 3; people say what another says: 1/3, 1, 1/3.
    assert found["agreement"] == {"model": pytest.approx(4 / 9), "people": pytest.approx(5 / 9)}


@pytest.mark.peers
def test_p_is_that_of_a_paired_t_test_corrected_for_dependence():
    from statsmodels.stats.multitest import multipletests

    votes, truth = crowd(right=0.7)
    draw = random.Random(9)
    labels = {item: label if draw.random() < 0.75 else draw.choice("1234") for item, label in truth.items()}
    found = outcome(votes, labels, epsilon=0.15)
    p = []
    for who in ("p0", "p1", "p2", "p3"):
        model, person = [], []
        for item, given in sorted(votes.items()):
            others = [label for other, label in given.items() if other != who]
            near = [others.count(label) / len(others) for label in (labels[item], given[who])]
            model.append(float(near[0] >= near[1]))
            person.append(float(near[1] >= near[0]))
        p.append(ttest_rel([one - 0.15 for one in person], model, alternative="less").pvalue)
    corrected = multipletests(p, method="fdr_by")
    assert [row["p"] for row in found["compared"]] == pytest.approx(list(corrected[1]))
    assert found["omega"] == sum(corrected[0]) / 4
    assert 0 < min(row["p"] for row in found["compared"]) < 0.9


def test_a_model_that_is_right_may_stand_in_and_one_that_guesses_may_not():
    votes, truth = crowd()
    good, draw = outcome(votes, truth), random.Random(2)
    assert (good["omega"], good["passes"]) == (1, True)
    assert good["rho"] > 0.9
    assert good["agreement"]["model"] > good["agreement"]["people"]
    bad = outcome(votes, {item: draw.choice("1234") for item in votes})
    assert (bad["omega"], bad["passes"]) == (0, False)
    same = {item: dict.fromkeys(given, "1") for item, given in votes.items()}
    assert [row["p"] for row in outcome(same, dict.fromkeys(votes, "1"))["compared"]] == [
        0
    ] * 4  # no variance, and no worse
    assert [row["p"] for row in outcome(same, dict.fromkeys(votes, "2"))["compared"]] == [1] * 4


def test_labels_that_are_numbers_can_be_nearer_or_farther():
    votes = {f"q{n}": {"ann": "1", "bo": "1", "cy": "2"} for n in range(40)}
    by_rmse = outcome(votes, dict.fromkeys(votes, "2"), alignment=Alignment.RMSE)["compared"]
    assert [(row["model"], row["person"]) for row in by_rmse] == [(1, 1), (1, 1), (1, 1)]
    farther = outcome(votes, dict.fromkeys(votes, "4"), alignment=Alignment.RMSE)["compared"]
    assert [(row["model"], row["person"]) for row in farther] == [(0, 1)] * 3
    with pytest.raises(EvaluationError, match="'x' isn't a number"):
        outcome({"q": {"ann": "x", "bo": "1"}}, {"q": "1"}, alignment=Alignment.RMSE)


def test_annotators_with_few_items_are_not_tested():
    votes, truth = crowd(items=29)
    with pytest.raises(EvaluationError, match="no annotator labelled 30 items"):
        outcome(votes, truth)
    votes, truth = crowd(items=40)
    for item in list(votes)[:15]:
        del votes[item]["p3"]
    found = outcome(votes, truth)
    assert [row["annotator"] for row in found["compared"]] == ["p0", "p1", "p2"]
    assert (found["annotators"], found["tested"]) == (4, 3)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"item_id": "a", "label": "5"}', "label: '5' is none of 1, 2"),
        ("[", "isn't valid JSON"),
        ('{"item_id": 3}', "item_id: expected"),
        ('{"item_id": "a", "label": 1}', "item_id: there is an earlier line for a"),
    ],
)
def test_a_models_labels_that_cannot_be_read_say_which_line(tmp_path, line, why):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"item_id": "a", "label": 1}) + "\n" + line + "\n")
    with pytest.raises(EvaluationError, match="labels.jsonl: line 2: .*" + why):
        read_labels(path, {"a": {"ann": "1", "bo": "2"}})


def test_every_item_needs_a_label_and_others_are_passed_over(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"item_id": "z", "label": 1}\n{"item_id": "a", "label": 2}\n')
    votes = {"a": {"ann": "1", "bo": "2"}}
    assert read_labels(path, votes) == {"a": "2"}
    with pytest.raises(EvaluationError, match="1 items of the release have no label: b"):
        read_labels(path, {**votes, "b": {"ann": "1"}})
