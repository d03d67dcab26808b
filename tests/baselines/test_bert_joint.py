"""BERT joint from files to scored predictions: trained, killed, resumed, and fed what is wrong."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make ml")

import torch
from django.core.management import CommandError, call_command
from safetensors.torch import load_file, save_file

from baselines.bert_joint.decoding import WindowScores, best_span, prediction_of
from baselines.bert_joint.instances import Sampling
from baselines.bert_joint.model import BertJoint, loss_of, model_load
from baselines.bert_joint.predicting import predict
from baselines.bert_joint.training import Recipe, train
from baselines.encoders import encoder_load
from baselines.loop import Schedule
from baselines.nq.examples import Box, Example, read_examples
from baselines.nq.generated import generated_records, generated_write
from baselines.nq.vocabulary import MARKUP
from baselines.nq.windows import Kind, Shape
from evaluation.files import EvaluationError
from tests.baselines.encoders import tiny_encoder
from tests.baselines.interrupted import interrupt

RECIPE = Recipe(
    shape=Shape(length=96, stride=48),
    sampling=Sampling(0.2, 1),
    schedule=Schedule(rate=2e-3, epochs=3, batch=4, accumulate=2, seed=1),
)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """Return the folder of a tiny BERT with random weights, which knows the words of the generated pages."""
    folder = tmp_path_factory.mktemp("encoder")
    words = sorted(
        {
            token["token"].lower()
            for seed in (1, 2)
            for record in generated_records(questions=24, seed=seed, ways=1)
            for token in record["document_tokens"]
            if not token["html_token"]
        }
    )
    letters = "abcdefghijklmnopqrstuvwxyz"
    return tiny_encoder(folder, [*MARKUP, *words, *letters, *(f"##{sign}" for sign in letters)], layers=2, inner=64)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Return two files to train on and one to predict for."""
    folder = tmp_path_factory.mktemp("data")
    for name, seed in (("a", 1), ("b", 2), ("dev", 3)):
        generated_write(folder / f"{name}.jsonl.gz", questions=12, seed=seed, ways=1 if name != "dev" else 5)
    return folder


def files_of(data):
    return [data / "a.jsonl.gz", data / "b.jsonl.gz"]


@pytest.fixture(scope="session")
def trained(tmp_path_factory, encoder, data):
    run = tmp_path_factory.mktemp("runs") / "run"
    record = train(run, files=files_of(data), encoder=encoder, recipe=RECIPE, say=lambda _: None, checkpoint_steps=4)
    return run, record


def test_training_lowers_the_loss_and_the_record_says_what_it_was_made_of(trained, encoder, data):
    run, record = trained
    losses = record["losses"]
    assert len(losses) == record["steps"] > 10
    assert np.mean(losses[-4:]) < 0.9 * np.mean(losses[:4])
    assert json.loads((run / "run.json").read_text()) == record
    assert set(record["data"]) == {"a.jsonl.gz", "b.jsonl.gz"}
    assert set(record["encoder"]) == {"config.json", "model.safetensors", "vocab.txt"}
    assert record["recipe"]["shape"]["length"] == 96
    assert not list(run.glob("checkpoint*"))
    assert len((run / "losses.csv").read_text().splitlines()) == record["steps"]


def test_the_same_command_again_gives_the_same_losses(trained, tmp_path, encoder, data):
    _run, record = trained
    again = train(tmp_path / "again", files=files_of(data), encoder=encoder, recipe=RECIPE, say=lambda _: None)
    assert again["losses"] == record["losses"]


def test_an_interrupted_run_goes_on_from_its_checkpoint_to_the_same_model(trained, tmp_path, encoder, data):
    run, record = trained
    options = {"files": files_of(data), "encoder": encoder, "recipe": RECIPE, "checkpoint_steps": 4}
    interrupt(train, tmp_path / "run", step=8, **options)
    assert (tmp_path / "run/checkpoint-8").is_dir()
    said = []
    resumed = train(tmp_path / "run", say=said.append, **options)
    assert not any(one.startswith("step 4 ") for one in said)
    assert resumed["losses"] == record["losses"]
    whole, parts = (load_file(one / "model.safetensors") for one in (run, tmp_path / "run"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_run_s_folder_holds_one_run(trained, encoder, data, tmp_path):
    run, record = trained
    done = train(run, files=files_of(data), encoder=encoder, recipe=RECIPE, say=lambda _: None)
    assert done == record
    with pytest.raises(EvaluationError, match="holds a run with other recipe"):
        train(run, files=files_of(data), encoder=encoder, recipe=replace(RECIPE, freeze=1), say=lambda _: None)
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(EvaluationError, match="is not empty"):
        train(tmp_path, files=files_of(data), encoder=encoder, recipe=RECIPE, say=lambda _: None)


def test_predictions_are_those_that_the_official_evaluation_takes(trained, data, tmp_path):
    run, _record = trained
    to = tmp_path / "predictions.json"
    counted = predict(run, files=[data / "dev.jsonl.gz"], to=to, say=lambda _: None)
    rows = json.loads(to.read_text())["predictions"]
    examples = {one.example_id: one for one in read_examples([data / "dev.jsonl.gz"])}
    assert counted["predictions"] == len(rows) == 12
    assert {row["example_id"] for row in rows} == set(examples)
    for row in rows:
        short = row["short_answers"][0]
        example = examples[row["example_id"]]
        assert example.bytes_of(short["start_token"], short["end_token"]) == (short["start_byte"], short["end_byte"])
    command = [
        sys.executable,
        "-m",
        "evaluation",
        "nq",
        "--gold",
        str(data / "dev.jsonl.gz"),
        "--predictions",
        str(to),
        "--json",
    ]
    scored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(scored.stdout)["examples"] == 12


def test_predictions_that_were_interrupted_go_on_and_are_the_same(trained, data, tmp_path):
    run, _record = trained
    options = {"files": [data / "dev.jsonl.gz"], "say": lambda _: None}
    predict(run, to=tmp_path / "whole.json", **options)
    lines = [json.dumps(one) for one in json.loads((tmp_path / "whole.json").read_text())["predictions"]]
    asked = json.loads((tmp_path / "whole.json").read_text())["made_from"]
    part = tmp_path / "cut.json.part"
    part.write_text("\n".join([json.dumps(asked | {"files": []}), *lines[:5]]) + '\n{"cut": ')
    predict(run, to=tmp_path / "cut.json", **options)  # another file was asked for: begun again
    assert (tmp_path / "cut.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    (tmp_path / "cut.json").unlink()
    kept = [line.replace('"yes_no_answer": "NONE"', '"yes_no_answer": "YES"') for line in lines[:5]]
    part.write_text("\n".join([json.dumps(asked), *kept]) + '\n{"cut": ')
    predict(run, to=tmp_path / "cut.json", **options)
    rows = json.loads((tmp_path / "cut.json").read_text())["predictions"]
    assert [row["yes_no_answer"] for row in rows] == ["YES"] * 5 + ["NONE"] * 7
    before = (tmp_path / "cut.json").stat().st_mtime_ns
    predict(run, to=tmp_path / "cut.json", **options)  # all is there
    assert (tmp_path / "cut.json").stat().st_mtime_ns == before
    predict(run, to=tmp_path / "cut.json", with_kinds=True, **options)  # something else is asked for
    assert (tmp_path / "cut.json").stat().st_mtime_ns > before


def test_the_loss_is_the_mean_of_three(encoder):
    model = BertJoint(encoder_load(encoder, pieces=10, length=6)).eval()
    ids = torch.tensor([[2, 5, 3, 6, 7, 3]])
    scores = model(ids, torch.ones_like(ids), torch.zeros_like(ids))
    targets = (torch.tensor([3]), torch.tensor([4]), torch.tensor([int(Kind.SHORT)]))
    parts = [-torch.log_softmax(one, -1)[0, at] for one, at in zip(scores, targets, strict=True)]
    found = float(loss_of(scores, *targets).detach())
    assert found == pytest.approx(float(sum(parts).detach()) / 3, rel=1e-5)


def scores_of(tokens, starts, ends, kinds=(0, 0, 0, 1, 0)):
    return WindowScores(
        *(np.array(one, dtype=np.float32) for one in (starts, ends, kinds)), np.array(tokens, dtype=np.int32)
    )


def test_a_span_is_scored_against_no_answer_and_grows_to_whole_tokens():
    window = scores_of([-1, -1, 10, 10, 11, 12, -1], [1, 99, 0, 5, 1, 2, 99], [1, 99, 0, 1, 6, 3, 99])
    assert best_span([window]) == (5 + 6 - 2, 10, 12, Kind.SHORT)
    assert best_span([scores_of([-1, -1], [1, 2], [1, 2])]) is None


def test_no_span_ends_before_it_starts_or_is_longer_than_thirty_pieces():
    tokens = [-1, *range(60)]
    starts, ends = np.zeros(61), np.zeros(61)
    starts[40], ends[5], ends[50], ends[45] = 10, 10, 1, 0.5
    assert best_span([scores_of(tokens, starts, ends)])[1:3] == (39, 50)
    starts[:], ends[:] = 0, 0
    starts[1], ends[31], ends[30] = 10, 10, 3
    assert best_span([scores_of(tokens, starts, ends)])[1:3] == (0, 30)


@pytest.mark.parametrize(
    ("kind", "with_kinds", "shorts", "yes_no"),
    [
        (Kind.SHORT, True, [(3, 4)], "NONE"),
        (Kind.YES, False, [(3, 4)], "NONE"),
        (Kind.YES, True, [(-1, -1)], "YES"),
        (Kind.LONG, True, [(-1, -1)], "NONE"),
    ],
)
def test_the_kind_decides_only_where_that_was_asked_for(kind, with_kinds, shorts, yes_no):
    boxes = [Box(0, 3, True), Box(2, 6, True), Box(3, 5, False)]
    example = Example(7, "q", ["x"] * 6, ["x"] * 6, [(at, at + 1) for at in range(6)], boxes, [])
    window = scores_of([-1, 3], [0, 5], [0, 5], [int(kind == one) for one in Kind])
    row = prediction_of(example, best_span([window]), with_kinds=with_kinds)
    assert (row["long_answer"]["start_token"], row["long_answer"]["end_token"]) == (2, 6)
    assert [(one["start_token"], one["end_token"]) for one in row["short_answers"]] == shorts
    assert row["yes_no_answer"] == yes_no
    nothing = prediction_of(example, None)
    assert nothing["long_answer"]["start_token"] == -1


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "can't be read"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "gpt2"}'), "isn't of a BERT"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"not weights"), "isn't a BERT encoder"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "pickles"),
        (lambda folder: (folder / "vocab.txt").write_text("[PAD]\n"), r"lacks \[CLS\]"),
        (
            lambda folder: (folder / "vocab.txt").write_text((folder / "vocab.txt").read_text() + "\nmore\nwords"),
            "knows",
        ),
    ],
)
def test_a_folder_that_is_no_encoder_ends_with_a_sentence(encoder, data, tmp_path, break_it, said):
    folder = tmp_path / "encoder"
    folder.mkdir()
    for path in encoder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    break_it(folder)
    with pytest.raises(EvaluationError, match=said):
        train(tmp_path / "run", files=files_of(data), encoder=folder, recipe=RECIPE, say=lambda _: None)


def test_a_folder_that_is_no_run_ends_with_a_sentence(tmp_path, data, encoder):
    with pytest.raises(EvaluationError, match="holds no run"):
        predict(tmp_path, files=[data / "dev.jsonl.gz"], to=tmp_path / "out", say=lambda _: None)
    save_file({"x": torch.zeros(1)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((encoder / "config.json").read_bytes())
    with pytest.raises(EvaluationError, match="isn't a model of BERT joint"):
        model_load(tmp_path)


def test_the_network_is_never_asked():
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_the_command_goes_from_generated_files_to_predictions(tmp_path, encoder, capsys):
    call_command("baseline", "generated", "--questions", "12", "--seed", "4", "--to", str(tmp_path))
    asked = ["--length", "96", "--stride", "48", "--rate", "1e-3", "--nulls", "0.2"]
    train_on, run = str(tmp_path / "nq/train"), str(tmp_path / "run")
    call_command("baseline", "bert-joint", "train", train_on, "--encoder", str(encoder), "--to", run, *asked)
    dev = str(tmp_path / "nq/train/nq-train-00.jsonl.gz")
    call_command("baseline", "bert-joint", "predict", run, dev, "--to", str(tmp_path / "out.json"), "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["predictions"] == 12
    with pytest.raises(CommandError, match="has no file of records"):
        call_command("baseline", "bert-joint", "predict", run, str(tmp_path), "--to", str(tmp_path / "x"))
