"""kill -9 while instances are made, while a model is trained, and while it predicts; then the same command again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make ml")

from baselines.nq.generated import generated_write
from baselines.nq.vocabulary import MARKUP
from tests.baselines.encoders import tiny_encoder

ROOT = Path(__file__).parent.parent.parent
ATTEMPTS = 5  # a child may be done before it is killed


def baseline(*arguments):
    command = [sys.executable, "manage.py", "baseline", "bert-joint", *map(str, arguments)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed_when(is_time, start, again):
    """Start a command, and kill it at a moment; start again where it was done before."""
    for _ in range(ATTEMPTS):
        child = start()
        while child.poll() is None and not is_time():
            time.sleep(0.001)
        child.kill()
        if child.wait() == -signal.SIGKILL:
            return
        again()
    raise AssertionError("the command was always done before it could be killed")


def test_after_kill_9_the_same_command_ends_with_the_same_files(tmp_path):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    tiny_encoder(
        encoder, [*MARKUP, *"abcdefghijklmnopqrstuvwxyz", *(f"##{one}" for one in "abcdefghijklmnopqrstuvwxyz")]
    )
    for name, questions in (("a", 40), ("b", 40), ("dev", 40)):
        generated_write(tmp_path / f"{name}.jsonl.gz", questions=questions, seed=len(name), ways=1)
    files = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    recipe = ["--length", "96", "--stride", "48", "--nulls", "0.5", "--batch", "2", "--encoder", encoder, "--to"]

    def train(run):
        return baseline("train", *files, *recipe, run, "--workers", "2")

    def predict(run, to):
        return baseline("predict", run, tmp_path / "dev.jsonl.gz", "--to", to)

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert train(whole).wait() == 0
    assert json.loads((whole / "run.json").read_text())["steps"] > 200
    moments = [
        lambda: (cut / "instances/0000").exists(),  # the first file's instances are being made
        lambda: any(cut.glob("checkpoint-*")),
    ]
    for moment in moments:
        killed_when(moment, lambda: train(cut), lambda: shutil.rmtree(cut))
    assert not (cut / "model.safetensors").exists()
    assert train(cut).wait() == 0
    for name in ("model.safetensors", "losses.csv", "config.json", "vocab.txt"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes()
    assert sorted(path.name for path in cut.iterdir()) == sorted(path.name for path in whole.iterdir())
    assert predict(whole, tmp_path / "whole.json").wait() == 0
    part = tmp_path / "cut.json.part"

    def has_some():
        return part.exists() and part.read_bytes().count(b"\n") > 3

    killed_when(has_some, lambda: predict(cut, tmp_path / "cut.json"), (tmp_path / "cut.json").unlink)
    assert not (tmp_path / "cut.json").exists()
    assert predict(cut, tmp_path / "cut.json").wait() == 0
    assert (tmp_path / "cut.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert not part.exists()
