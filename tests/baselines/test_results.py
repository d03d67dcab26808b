"""The table of results: untrained baselines, trained runs, annotators, and the published figures beside them."""

import csv
import gzip
import json

import pytest
from django.core.management import CommandError, call_command

from baselines.nq.generated import generated_write
from baselines.rankers.generated import generated_ranking_write
from baselines.tables import Figure, Results, Row, comma_separated, markdown


def table_of(folder):
    rows = list(csv.DictReader((folder / "table.csv").open()))
    return {row["system"]: row for row in rows}


def test_a_table_shows_intervals_and_has_columns_for_what_was_published():
    rows = [
        Row("A & B", {"F1": Figure(0.5, 0.25, 0.75), "P": Figure(1)}, {"F1": 0.6}),
        Row("C|D", {"F1": Figure(None)}),
    ]
    results = Results("All of it.", ("P", "F1"), ("F1",), "paper", rows)
    assert markdown(results).splitlines()[:4] == [
        "| System | F1 | F1, paper |",
        "| --- | ---: | ---: |",
        "| A & B | 0.500 (0.250–0.750) | 0.600 |",
        "| C∣D |  |  |",
    ]
    assert comma_separated(results).splitlines() == [
        'system,P,P low,P high,F1,F1 low,F1 high,"P, paper","F1, paper"',
        "A & B,1,,,0.5,0.25,0.75,,0.6",
        "C|D,,,,,,,,",
    ]
    assert "F1, paper" not in markdown(Results("", ("F1",), ("F1",), "paper", rows[1:]))


def test_the_table_of_natural_questions_has_untrained_systems_files_and_annotators(tmp_path, capsys):
    release, train = tmp_path / "dev", tmp_path / "train"
    for folder, seed, ways in ((release, 1, 25), (train, 1, 1)):
        folder.mkdir()
        generated_write(folder / "nq-00.jsonl.gz", questions=20, seed=seed, ways=ways)
    right = []
    for line in gzip.open(release / "nq-00.jsonl.gz"):
        record = json.loads(line)
        first = record["annotations"][0]
        said = {"long_answer": first["long_answer"], "short_answers": first["short_answers"]}
        scores = {"long_answer_score": 1.0, "short_answers_score": 1.0, "yes_no_answer": first["yes_no_answer"]}
        right.append({"example_id": record["example_id"], **said, **scores})
    (tmp_path / "mine.json").write_text(json.dumps({"predictions": right}))
    asked = ["--train", str(train), "--to", str(tmp_path / "out"), "--resamples", "50"]
    call_command("baseline", "table", str(release), str(tmp_path / "mine.json"), *asked)
    shown = capsys.readouterr().out
    found = table_of(tmp_path / "out")
    people = ["Single annotator", "Super-annotator"]
    assert list(found) == ["First paragraph", "Most frequent", "Closest question", "mine", *people]
    assert float(found["mine"]["long F1"]) == float(found["Super-annotator"]["short F1"]) == 1
    assert float(found["First paragraph"]["long F1"]) < 0.5
    assert found["Single annotator"]["long F1, paper"] == "0.734"
    assert "against 5 of 25 annotations" in shown
    assert shown.strip() == (tmp_path / "out/table.md").read_text().strip()
    assert r"\toprule" in (tmp_path / "out/table.tex").read_text()
    with pytest.raises(CommandError, match="two systems are called"):
        call_command("baseline", "table", str(release), *2 * [str(tmp_path / "mine.json")], *asked)


def test_the_table_of_antique_ranks_what_has_a_label(tmp_path, capsys):
    generated_ranking_write(tmp_path / "release", train=4, test=20, seed=1)
    asked = ["--to", str(tmp_path / "out"), "--json"]
    call_command("baseline", "table", str(tmp_path / "release"), *asked)
    assert json.loads(capsys.readouterr().out)["systems"] == 2
    found = table_of(tmp_path / "out")
    assert list(found) == ["BM25", "Random order"]
    assert float(found["BM25"]["MAP"]) < float(found["Random order"]["MAP"]) < 1
    assert found["BM25"]["nDCG@10, paper"] == "0.4334"
    assert float(found["BM25"]["MAP low"]) < float(found["BM25"]["MAP"]) < float(found["BM25"]["MAP high"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match="has no file of records"):
        call_command("baseline", "table", str(tmp_path / "empty"), *asked)
    with pytest.raises(CommandError, match="holds no run"):
        call_command("baseline", "table", str(tmp_path / "release"), str(tmp_path / "empty"), *asked)


def test_trained_runs_predict_first_and_controls_are_named(tmp_path, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed: make ml")
    from baselines.nq.vocabulary import MARKUP
    from tests.baselines.encoders import tiny_encoder

    call_command("baseline", "generated", "--questions", "6", "--to", str(tmp_path))
    for folder in ("encoder", "dev"):
        (tmp_path / folder).mkdir()
    encoder = str(tiny_encoder(tmp_path / "encoder", [*MARKUP, *"abcdefghijklmnopqrstuvwxyz"]))
    generated_write(tmp_path / "dev/nq-00.jsonl.gz", questions=4, seed=3, ways=5)
    train, short = str(tmp_path / "nq/train"), ["--length", "96", "--nulls", "0.2", "--encoder", encoder]
    runs = {name: str(tmp_path / name) for name in ("joint", "control", "reader", "ranker")}
    call_command("baseline", "bert-joint", "train", train, *short, "--to", runs["joint"])
    call_command("baseline", "bert-joint", "train", train, *short, "--to", runs["control"], "--blind", "--from-scratch")
    reader = ["--vectors", encoder, "--to", runs["reader"], "--epochs", "1"]
    call_command("baseline", "reader", "train", "decatt-docreader", train, *reader)
    release = str(tmp_path / "antique")
    call_command("baseline", "rank", "train", "anmm", release, "--encoder", encoder, "--to", runs["ranker"])
    capsys.readouterr()
    dev, asked = str(tmp_path / "dev"), ["--to", str(tmp_path / "out"), "--resamples", "0"]
    with pytest.raises(CommandError, match="needs its word vectors"):
        call_command("baseline", "table", dev, runs["reader"], *asked)
    of_questions = [runs["joint"], runs["control"], runs["reader"]]
    call_command("baseline", "table", dev, *of_questions, "--vectors", encoder, *asked)
    control = "BERT joint without the question (control)"
    assert list(table_of(tmp_path / "out")) == ["First paragraph", "BERT joint", control, "DecAtt + DocReader"]
    made = (tmp_path / "out/predictions/joint.json").stat().st_mtime_ns
    call_command("baseline", "table", dev, runs["joint"], *asked)
    assert (tmp_path / "out/predictions/joint.json").stat().st_mtime_ns == made
    call_command("baseline", "table", release, runs["ranker"], *asked)
    assert list(table_of(tmp_path / "out")) == ["BM25", "Random order", "aNMM"]
    with pytest.raises(CommandError, match="holds no ranker"):
        call_command("baseline", "table", release, runs["joint"], *asked)
    with pytest.raises(CommandError, match="doesn't answer Natural Questions"):
        call_command("baseline", "table", dev, runs["ranker"], *asked)
