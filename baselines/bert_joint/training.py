"""Training BERT joint on files of Natural Questions."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

from baselines.bert_joint.instances import Instances, Sampling, instances_write
from baselines.bert_joint.model import BertJoint, loss_of, model_save
from baselines.encoders import VOCABULARY, encoder_files, encoder_load, freeze
from baselines.loop import CHECKPOINT_STEPS, Loop, Numbers, Say, Schedule, device_found
from baselines.nq.vocabulary import PAD, vocabulary_read
from baselines.nq.windows import Shape
from baselines.runs import WEIGHTS, record_write, run_begin, sources_of
from evaluation.files import EvaluationError


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a training; the defaults are the paper's, for a large encoder that was first trained on SQuAD.

    ``freeze``: keep the embeddings and this many first layers unchanged; 0 trains everything. ``from_scratch``: start
    with random weights in the shape of the encoder, as a control.
    """

    shape: Shape = field(default_factory=Shape)
    sampling: Sampling = field(default_factory=Sampling)
    schedule: Schedule = field(default_factory=Schedule)
    freeze: int = 0
    from_scratch: bool = False


def recipe_of(record: Mapping[str, Any]) -> Recipe:
    """Return the recipe of a run's record."""
    kept = record["recipe"]
    parts = {"shape": Shape, "sampling": Sampling, "schedule": Schedule}
    return Recipe(**{name: parts[name](**value) if name in parts else value for name, value in kept.items()})


def train(
    run: Path,
    *,
    files: Sequence[Path],
    encoder: Path,
    recipe: Recipe,
    say: Say,
    workers: int = 1,
    checkpoint_steps: int = CHECKPOINT_STEPS,
) -> dict[str, Any]:
    """Train a model into a run's folder, and return the run's record.

    The same command resumes an interrupted run from its last checkpoint. The same files, encoder, recipe and
    versions give the same losses on the same machine.

    Raises
    ------
    EvaluationError
        A file or the encoder can't be used, or the folder holds another run.
    """
    vocabulary = vocabulary_read(encoder / VOCABULARY)
    loaded = encoder_load(encoder, pieces=len(vocabulary), length=recipe.shape.length)
    record = run_begin(run, sources_of(recipe, encoder_files(encoder), files))
    if (run / WEIGHTS).exists():
        return record
    shutil.copyfile(encoder / VOCABULARY, run / VOCABULARY)
    count = instances_write(
        files,
        run / "instances",
        vocabulary=run / VOCABULARY,
        shape=recipe.shape,
        sampling=recipe.sampling,
        say=say,
        workers=workers,
    )
    if not count:
        raise EvaluationError(
            "these files have no instance to train on: no window with an answer, and no other was kept"
        )
    instances = Instances(run / "instances", vocabulary[PAD])
    torch.manual_seed(recipe.schedule.seed)  # of the first weights of the heads
    model = BertJoint(BertModel(loaded.config) if recipe.from_scratch else loaded)
    freeze(model.encoder, recipe.freeze)
    loop = Loop(run, model, recipe.schedule, count=count, loss=_loss_on(instances))
    made = loop.go(say, checkpoint_steps)
    record |= made.as_record()
    record_write(run, record)
    model_save(model, run)
    loop.clean()
    return record


def _loss_on(instances: Instances) -> Callable[[nn.Module, Numbers], Tensor]:
    """Return the loss of a model on some instances, given by their numbers."""
    device = device_found()

    def loss(model: nn.Module, numbers: Numbers) -> Tensor:
        batch = instances.batch(numbers)
        ids, mask, segments, starts, ends, kinds = (torch.from_numpy(part).to(device) for part in batch)
        return loss_of(model(ids, mask, segments), starts, ends, kinds)

    return loss
