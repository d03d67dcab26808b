"""The loop that trains every baseline: AdamW, warm-up, clipping, and checkpoints to resume interrupted runs."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

CHECKPOINT_STEPS = 200
LOSSES = "losses.csv"
_MODEL, _OPTIMIZER, _STATE = "model.safetensors", "optimizer.safetensors", "state.json"
Numbers = npt.NDArray[np.int64]
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The epochs, batch sizes and learning rate of a training.

    Attributes
    ----------
    rate, warmup, decay, clip
        AdamW's peak rate, reached after this share of the steps and then falling to 0; its weight decay; the norm that
        gradients are clipped to.
    batch, accumulate
        Instances per part of a step, and parts per step.
    """

    rate: float = 3e-5
    warmup: float = 0.1
    decay: float = 0.01
    clip: float = 1.0
    epochs: int = 1
    batch: int = 8
    accumulate: int = 1
    seed: int = 0


@dataclass(slots=True)
class Trained:
    """The result of a loop: the loss of each step, and the seconds that all attempts took."""

    losses: list[float]
    seconds: float

    def as_record(self) -> dict[str, Any]:
        """Return the part of a run's record about this loop."""
        return {"steps": len(self.losses), "losses": self.losses, "seconds": self.seconds}


def schedule_of(options: Mapping[str, Any]) -> Schedule:
    """Return the schedule that a command's options name."""
    return Schedule(**{name: options[name] for name in ("rate", "epochs", "batch", "accumulate", "seed")})


def trained_text(record: Mapping[str, Any], run: Path) -> str:
    """Return the training result in a run's record as text."""
    seconds, last = record["seconds"], record["losses"][-1]
    return f"{record['steps']:,} steps in {seconds:,.0f} s, last loss {last:.3f}, in {run}"


def threads_bound(count: int) -> None:
    """Limit the number of CPU threads; 0 means one per core."""
    if count:
        torch.set_num_threads(count)


def device_found() -> torch.device:
    """Return the device for training: the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def tensors_save(model: nn.Module, path: Path) -> None:
    """Write the weights of a model, whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, part)
    part.replace(path)


class Loop:
    """The training of a model on its instances.

    Parameters
    ----------
    folder
        Where checkpoints are kept, and the losses written.
    count
        How many instances there are.
    loss
        Returns the mean loss of some instances, given by their numbers, under a model.
    """

    def __init__(
        self,
        folder: Path,
        model: nn.Module,
        schedule: Schedule,
        *,
        count: int,
        loss: Callable[[nn.Module, Numbers], Tensor],
    ) -> None:
        self.folder, self.schedule, self._count, self._loss = folder, schedule, count, loss
        self._device = device_found()
        self.model = model.to(self._device)
        self._a_step = schedule.batch * schedule.accumulate
        self._an_epoch = math.ceil(count / self._a_step)
        self.steps = schedule.epochs * self._an_epoch
        self._step, self._losses, self._seconds = 0, list[float](), 0.0
        self._optimizer = self._made_optimizer()
        self._restore()

    def _made_optimizer(self) -> torch.optim.AdamW:
        decayed: list[Tensor] = []
        plain: list[Tensor] = []
        for name, value in self.model.named_parameters():
            if value.requires_grad:
                (plain if name.endswith("bias") or "LayerNorm" in name else decayed).append(value)
        groups = [{"params": decayed, "weight_decay": self.schedule.decay}, {"params": plain, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.schedule.rate, eps=1e-6)

    def go(self, say: Say, checkpoint_steps: int = CHECKPOINT_STEPS) -> Trained:
        """Take the steps that are left."""
        # Threads otherwise add gradients in any order, and an interrupted run would end with other weights.
        torch.use_deterministic_algorithms(self._device.type == "cpu")
        self.model.train()
        began, first = time.monotonic(), self._step
        with (self.folder / LOSSES).open("w") as file:
            file.writelines(f"{step},{loss!r}\n" for step, loss in enumerate(self._losses, 1))
            for numbers in self._portions():
                self._take(numbers)
                file.write(f"{self._step},{self._losses[-1]!r}\n")
                if self._step % checkpoint_steps == 0 or self._step == self.steps:
                    file.flush()
                    took = time.monotonic() - began
                    self._checkpoint(self._seconds + took)
                    left = (self.steps - self._step) * took / (self._step - first)
                    say(f"step {self._step:,} of {self.steps:,}, loss {self._losses[-1]:.3f}, {left / 60:.1f} min left")
        return Trained(self._losses, round(self._seconds + time.monotonic() - began, 1))

    def clean(self) -> None:
        """Delete the checkpoints, once the trained model is saved."""
        for path in self.folder.glob("checkpoint*"):
            shutil.rmtree(path)

    def _portions(self) -> Iterator[list[Numbers]]:
        """Yield the instances of each step that is left, in parts; seed and epoch decide their order."""
        for epoch in range(self.schedule.epochs):
            order = np.random.default_rng([self.schedule.seed, epoch]).permutation(self._count)
            for step in range(self._an_epoch):
                if epoch * self._an_epoch + step >= self._step:
                    chosen = order[step * self._a_step : (step + 1) * self._a_step]
                    yield [chosen[at : at + self.schedule.batch] for at in range(0, len(chosen), self.schedule.batch)]

    def _take(self, parts: Sequence[Numbers]) -> None:
        """Take one step."""
        torch.manual_seed(
            self.schedule.seed + 1 + self._step
        )  # after an interruption dropout is what it would have been
        for group in self._optimizer.param_groups:
            group["lr"] = self.schedule.rate * self._share()
        self._optimizer.zero_grad()
        total, instances = 0.0, sum(map(len, parts))
        for part in parts:
            with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._device.type == "cuda"):
                loss = self._loss(self.model, part) * (len(part) / instances)
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.schedule.clip)
        self._optimizer.step()
        self._step += 1
        self._losses.append(total)

    def _share(self) -> float:
        """Return the share of the peak rate at this step: linearly up, then down to 0."""
        rise = max(1, round(self.schedule.warmup * self.steps))
        if self._step < rise:
            return (self._step + 1) / rise
        return (self.steps - self._step) / max(1, self.steps - rise)

    def _checkpoint(self, seconds: float) -> None:
        """Write all that an interrupted run needs to resume, whole or not at all; then delete the last checkpoint."""
        made, part = self.folder / f"checkpoint-{self._step}", self.folder / "checkpoint.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        tensors_save(self.model, part / _MODEL)
        state = self._optimizer.state_dict()["state"]
        save_file(
            {f"{number}.{name}": value.contiguous() for number, one in state.items() for name, value in one.items()},
            part / _OPTIMIZER,
        )
        (part / _STATE).write_text(json.dumps({"step": self._step, "losses": self._losses, "seconds": seconds}))
        part.replace(made)
        for older in self.folder.glob("checkpoint-*"):
            if older != made:
                shutil.rmtree(older)

    def _restore(self) -> None:
        found = list(self.folder.glob(f"checkpoint-*/{_STATE}"))
        if not found:
            return
        folder = max(found, key=lambda path: int(path.parent.name.partition("-")[2])).parent
        kept = json.loads((folder / _STATE).read_text())
        self._step, self._losses, self._seconds = kept["step"], kept["losses"], kept["seconds"]
        self.model.load_state_dict(load_file(folder / _MODEL))
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in load_file(folder / _OPTIMIZER).items():
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = value
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": state})
