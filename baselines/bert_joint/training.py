"""Training BERT joint: one loop, with checkpoints that it goes on from after it was killed."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from baselines.bert_joint.instances import Batch, Instances, instances_write
from baselines.bert_joint.model import (
    VOCABULARY,
    WEIGHTS,
    BertJoint,
    device_found,
    encoder_load,
    loss_of,
    model_load,
    model_save,
)
from baselines.bert_joint.runs import LOSSES, Recipe, record_write, run_begin, sources_of
from baselines.nq.vocabulary import PAD, vocabulary_read
from evaluation.files import EvaluationError

CHECKPOINT_STEPS = 200
OPTIMIZER, STATE = "optimizer.safetensors", "state.json"
Say = Callable[[str], object]


def train(
    run: Path,
    *,
    files: Sequence[Path],
    encoder: Path,
    recipe: Recipe,
    say: Say,
    checkpoint_steps: int = CHECKPOINT_STEPS,
) -> dict[str, Any]:
    """Train a model into a run's folder, and return the run's record.

    An interrupted run goes on from its last checkpoint, with the same command. The same files, encoder, recipe and
    versions give the same losses on the same machine.

    Raises
    ------
    EvaluationError
        A file or the encoder can't be used, or the folder holds another run.
    """
    vocabulary = vocabulary_read(encoder / VOCABULARY)
    loaded = encoder_load(encoder)
    if loaded.config.vocab_size < len(vocabulary):
        raise EvaluationError(
            f"{encoder}: knows {loaded.config.vocab_size:,} pieces, its vocabulary {len(vocabulary):,}"
        )
    if loaded.config.max_position_embeddings < recipe.shape.length:
        raise EvaluationError(f"{encoder}: takes at most {loaded.config.max_position_embeddings} pieces")
    own = [encoder / name for name in ("config.json", WEIGHTS, VOCABULARY)]
    record = run_begin(run, sources_of(recipe, own, files))
    if (run / WEIGHTS).exists():
        return record
    shutil.copyfile(encoder / VOCABULARY, run / VOCABULARY)
    count = instances_write(
        files, run / "instances", vocabulary=vocabulary, shape=recipe.shape, sampling=recipe.sampling, say=say
    )
    if not count:
        raise EvaluationError(
            "these files have no instance to train on: no window with an answer, and no other was kept"
        )
    torch.manual_seed(recipe.seed)  # of the first weights of the heads
    trainer = _Trainer(run, BertJoint(loaded), Instances(run / "instances", vocabulary[PAD]), recipe)
    trainer.go(record, say, checkpoint_steps)
    model_save(trainer.model, run)
    for path in run.glob("checkpoint-*"):
        shutil.rmtree(path)
    return record


class _Trainer:
    """A model, its optimizer, and how far they are."""

    def __init__(self, run: Path, model: BertJoint, instances: Instances, recipe: Recipe) -> None:
        self.run, self.instances, self.recipe = run, instances, recipe
        self.device = device_found()
        self.step = 0
        self.losses: list[float] = []
        self.seconds = 0.0
        self.a_step = recipe.batch * recipe.accumulate
        self.an_epoch = math.ceil(len(instances) / self.a_step)
        self.steps = recipe.epochs * self.an_epoch
        last = max(self.run.glob("checkpoint-*/state.json"), default=None, key=lambda path: int(path.parent.name[11:]))
        self.model = (model if last is None else model_load(last.parent)).to(self.device)
        self._freeze()
        self.optimizer = self._optimizer()
        if last is not None:
            self._restore(last.parent)

    def _freeze(self) -> None:
        if self.recipe.freeze:
            encoder = self.model.encoder
            for part in (encoder.embeddings, *encoder.encoder.layer[: self.recipe.freeze]):
                part.requires_grad_(requires_grad=False)

    def _optimizer(self) -> torch.optim.AdamW:
        decayed: list[Tensor] = []
        plain: list[Tensor] = []
        for name, value in self.model.named_parameters():
            if value.requires_grad:
                (plain if name.endswith("bias") or "LayerNorm" in name else decayed).append(value)
        groups = [{"params": decayed, "weight_decay": self.recipe.decay}, {"params": plain, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.recipe.rate, eps=1e-6)

    def go(self, record: dict[str, Any], say: Say, checkpoint_steps: int) -> None:
        """Take the steps that are left."""
        self.model.train()
        begun, began_at = time.monotonic(), self.step
        with (self.run / LOSSES).open("w") as file:
            file.writelines(f"{step},{loss!r}\n" for step, loss in enumerate(self.losses, 1))
            for batches in self._batches():
                self._take(batches)
                file.write(f"{self.step},{self.losses[-1]!r}\n")
                if self.step % checkpoint_steps == 0 or self.step == self.steps:
                    file.flush()
                    self._checkpoint(time.monotonic() - begun)
                    begun_rate = (self.step - began_at) / max(time.monotonic() - begun, 1e-9)
                    left = (self.steps - self.step) / max(begun_rate, 1e-9)
                    say(
                        f"step {self.step:,} of {self.steps:,}, loss {self.losses[-1]:.3f}, about {left / 60:.0f} min left"
                    )
        record |= {"steps": self.steps, "losses": self.losses, "seconds": round(self.seconds, 1)}
        record_write(self.run, record)

    def _batches(self) -> Iterator[list[Batch]]:
        """Yield the batches of each step that is left, in an order that seed and epoch decide."""
        for epoch in range(self.recipe.epochs):
            order = np.random.default_rng([self.recipe.seed, epoch]).permutation(len(self.instances))
            for step in range(self.an_epoch):
                if epoch * self.an_epoch + step >= self.step:
                    chosen = order[step * self.a_step : (step + 1) * self.a_step]
                    yield [
                        self.instances.batch(chosen[start : start + self.recipe.batch])
                        for start in range(0, len(chosen), self.recipe.batch)
                    ]

    def _take(self, batches: list[Batch]) -> None:
        """Take one step."""
        torch.manual_seed(self.recipe.seed + 1 + self.step)  # dropout after an interruption is what it would have been
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * self._share()
        self.optimizer.zero_grad()
        total, windows = 0.0, sum(len(batch.kinds) for batch in batches)
        for batch in batches:
            ids, mask, segments, starts, ends, kinds = (torch.from_numpy(part).to(self.device) for part in batch)
            with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
                loss = loss_of(self.model(ids, mask, segments), starts, ends, kinds) * (len(batch.kinds) / windows)
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.step += 1
        self.losses.append(total)

    def _share(self) -> float:
        """Return the share of the peak rate at this step: linearly up, then down to 0."""
        rise = max(1, round(self.recipe.warmup * self.steps))
        if self.step < rise:
            return (self.step + 1) / rise
        return (self.steps - self.step) / max(1, self.steps - rise)

    def _checkpoint(self, seconds: float) -> None:
        """Write all that an interrupted run goes on from, whole or not at all; then delete the one before."""
        self.seconds += seconds
        made, part = self.run / f"checkpoint-{self.step}", self.run / "checkpoint.part"
        shutil.rmtree(part, ignore_errors=True)
        model_save(self.model, part)
        save_file(self._optimizer_state(), part / OPTIMIZER)
        (part / STATE).write_text(json.dumps({"step": self.step, "losses": self.losses, "seconds": self.seconds}))
        part.replace(made)
        for older in self.run.glob("checkpoint-*"):
            if older != made:
                shutil.rmtree(older)

    def _optimizer_state(self) -> dict[str, Tensor]:
        state = self.optimizer.state_dict()["state"]
        return {f"{number}.{name}": value.contiguous() for number, one in state.items() for name, value in one.items()}

    def _restore(self, folder: Path) -> None:
        kept = json.loads((folder / STATE).read_text())
        self.step, self.losses, self.seconds = kept["step"], kept["losses"], kept["seconds"]
        found: dict[int, dict[str, Tensor]] = {}
        for key, value in load_file(folder / OPTIMIZER).items():
            number, _, name = key.partition(".")
            found.setdefault(int(number), {})[name] = value
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict({**state, "state": found})
