"""A release is what systems are scored against: its qrels, and its votes as soft labels."""

import gzip
import json
import math

import pytest
from django.core.management import CommandError, call_command
from scipy.spatial.distance import jensenshannon

from evaluation.annotator.files import read_votes
from evaluation.relevance.files import read_qrels
from exports.released.folder import ReleasedFolder

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(judged, tmp_path):
    call_command("release", judged.slug, format="antique", to=tmp_path / "out")
    return tmp_path / "out"


def test_the_labels_of_a_release_are_read_with_those_of_askers_and_experts(folder, tmp_path, capsys):
    qrels = read_qrels(folder / "antique-train.qrel", lowest=1)
    run = tmp_path / "run.txt"
    ranked = [(q, d, label) for q, labels in qrels.items() for d, label in labels.items()]
    run.write_text("".join(f"{q} Q0 {d} 1 {label} best\n" for q, d, label in ranked))
    call_command("evaluate", "relevance", qrels=folder / "antique-train.qrel", run=[run], json=True)
    found = json.loads(capsys.readouterr().out)
    assert sorted(qrels) == ["0045", "2146313"]
    assert found["runs"][0]["run"] == "best"
    assert found["runs"][0]["metrics"]["nDCG@10"] == pytest.approx(1)
    assert found["runs"][0]["judged"] == {"@1": 1, "@3": 1, "@10": 1}


def soft(folder, path, **options):
    call_command("evaluate", "soft", release=folder, predictions=path, resamples=0, json=True, **options)


def predictions(path, rows):
    path.write_text("".join(json.dumps({"item_id": item, "probabilities": said}) + "\n" for item, said in rows.items()))
    return path


def shares(folder, target):
    """Return by item the share of each label, as pandas users would compute it."""
    rows = [json.loads(line) for line in gzip.open(folder / "tables/labels.jsonl.gz")]
    given = {row["item_id"]: {str(n): row[f"{target}_{n}"] for n in range(1, 5)} for row in rows}
    return {item: {n: one / sum(found.values()) for n, one in found.items()} for item, found in given.items()}


@pytest.mark.parametrize("target", ["votes", "posterior"])
def test_probabilities_are_scored_against_the_shares_of_the_votes(folder, tmp_path, capsys, target):
    wanted = shares(folder, target)
    guess = {"1": 0.1, "2": 0.2, "3": 0.3, "4": 0.4}
    soft(folder, predictions(tmp_path / "p.jsonl", dict.fromkeys(wanted, guess)), target=target)
    found = json.loads(capsys.readouterr().out)
    entropy = [-sum(one * math.log(guess[n]) for n, one in said.items()) for said in wanted.values()]
    apart = [jensenshannon(list(said.values()), list(guess.values()), base=2) ** 2 for said in wanted.values()]
    assert found["metrics"]["cross_entropy"] == pytest.approx(sum(entropy) / len(entropy))
    assert found["metrics"]["jensen_shannon"] == pytest.approx(sum(apart) / len(apart))
    soft(folder, predictions(tmp_path / "p.jsonl", wanted), target=target)
    best = json.loads(capsys.readouterr().out)
    assert best["metrics"]["jensen_shannon"] == pytest.approx(0, abs=1e-9)
    assert best["metrics"]["cross_entropy"] == pytest.approx(best["floor"])
    assert best["floor"] < found["metrics"]["cross_entropy"]


WRONG = [
    ('{"item_id": 5}', "item_id: expected"),
    ("[1", "isn't valid JSON"),
    ('{"item_id": "x", "probabilities": {"1": 1}}', "expected one for each of 4, 3, 2, 1"),
    ('{"item_id": "x", "probabilities": {"1": 0.5, "2": 0.1, "3": 0, "4": 0}}', "their sum is 0.6"),
    ('{"item_id": "x", "probabilities": {"1": 1.5, "2": -0.5, "3": 0, "4": 0}}', "between 0 and 1"),
    ('{"item_id": "x", "probabilities": {"1": true, "2": 0, "3": 0, "4": 0}}', "between 0 and 1"),
]


def test_predictions_that_are_none_say_which_line(folder, tmp_path):
    for line, why in WRONG:
        (tmp_path / "p.jsonl").write_text(line + "\n")
        with pytest.raises(CommandError, match="p.jsonl: line 1: .*" + why):
            soft(folder, tmp_path / "p.jsonl")


def test_items_without_a_prediction_and_releases_without_votes_are_refused(folder, tmp_path):
    wanted = shares(folder, "votes")
    left_out, *others = wanted
    rows = {item: wanted[item] for item in others}
    with pytest.raises(CommandError, match=f"1 items of the release have no prediction: {left_out}"):
        soft(folder, predictions(tmp_path / "p.jsonl", rows))
    (tmp_path / "p.jsonl").write_text((tmp_path / "p.jsonl").read_text() * 2)
    with pytest.raises(CommandError, match="there is an earlier line"):
        soft(folder, tmp_path / "p.jsonl")
    manifest = ReleasedFolder(folder).manifest
    del manifest["tables"]["labels"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CommandError, match="has no labels"):
        soft(folder, tmp_path / "p.jsonl")


def test_a_model_is_compared_with_the_first_votes_of_a_release(folder, tmp_path, capsys, monkeypatch):
    votes = read_votes(folder)
    rows = [json.loads(line) for line in gzip.open(folder / "tables/judgments.jsonl.gz")]
    first = [row for row in rows if row["round"] == 1 and row["state"] == "counted"]
    assert len(rows) > len(first) == sum(map(len, votes.values()))
    assert all(votes[row["item_id"]][row["annotator"]] == str(row["label"]) for row in first)
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"item_id": item, "label": 4}) + "\n" for item in votes))
    with pytest.raises(CommandError, match="no annotator labelled 30 items"):
        call_command("evaluate", "annotator", release=folder, predictions=path)
    monkeypatch.setattr("evaluation.annotator.alternative.FEWEST", 2)
    call_command("evaluate", "annotator", release=folder, predictions=path, epsilon=0.2)
    said = capsys.readouterr().out
    assert f"{len(votes)} items, 3 annotators, 3 of them with enough items to test" in said
    assert "(at ε = 0.2)" in said
    with pytest.raises(CommandError, match="epsilon lies between"):
        call_command("evaluate", "annotator", release=folder, predictions=path, epsilon=1)
