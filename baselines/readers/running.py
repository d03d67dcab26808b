"""Training a reader on files of Natural Questions, and predicting with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from baselines.encoders import weights_load
from baselines.loop import CHECKPOINT_STEPS, Loop, Numbers, Say, Schedule, device_found, tensors_save
from baselines.nq.examples import Example
from baselines.nq.predictions import Prediction, no_answer, prediction, predictions_write
from baselines.readers.documentqa import DocumentQA
from baselines.readers.pages import page_of, read_pages, words_of
from baselines.readers.pipeline import Pipeline
from baselines.readers.reader import Reader
from baselines.readers.vectors import WordVectors, vectors_files, vectors_read
from baselines.runs import WEIGHTS, record_read, record_write, run_begin, sources_of
from evaluation.files import EvaluationError

READERS: dict[str, Callable[[WordVectors], Reader]] = {one.key: one for one in (Pipeline, DocumentQA)}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings that a reader is trained with."""

    reader: str
    schedule: Schedule = field(default_factory=lambda: Schedule(rate=1e-3, epochs=20, batch=15))


def train(
    run: Path,
    *,
    files: Sequence[Path],
    vectors: Path,
    recipe: Recipe,
    say: Say,
    checkpoint_steps: int = CHECKPOINT_STEPS,
) -> dict[str, Any]:
    """Train a reader into a run's folder, and return the run's record; the same command resumes an interrupted run.

    All pages are kept in memory.

    Raises
    ------
    EvaluationError
        A file or the vectors can't be used, or the folder holds another run.
    """
    record = run_begin(run, sources_of(recipe, vectors_files(vectors), files))
    if (run / WEIGHTS).exists():
        return record
    pages = list(read_pages(files))
    if not pages:
        raise EvaluationError("these files have no page with a top-level box")
    known = vectors_read(vectors, words_of(pages))
    torch.manual_seed(recipe.schedule.seed)  # of first weights
    model = READERS[recipe.reader](known)
    pages = [page for page in pages if model.learns_from(page)]
    if not pages:
        raise EvaluationError("these files have no page with an answer to learn from")

    def loss(reader: nn.Module, numbers: Numbers) -> Tensor:
        assert isinstance(reader, Reader)
        return reader.loss([pages[number] for number in numbers])

    loop = Loop(run, model, recipe.schedule, count=len(pages), loss=loss)
    made = loop.go(say, checkpoint_steps)
    record |= {"pages": len(pages), "width": known.width} | made.as_record()
    record_write(run, record)
    tensors_save(model, run / WEIGHTS)
    loop.clean()
    return record


def predict(run: Path, *, files: Sequence[Path], vectors: Path, to: Path, say: Say) -> dict[str, int]:
    """Write predictions in the official evaluation's format; return how many there are, and how many have an answer.

    Raises
    ------
    EvaluationError
        The run's folder holds no trained reader, the vectors differ from those in training, or a file can't be read.
    """
    record = record_read(run)
    name = record["recipe"].get("reader")
    if name not in READERS:
        raise EvaluationError(f"{run}: holds no reader")
    _check_vectors(record, vectors, run)
    model = READERS[name](vectors_read(vectors, words_of(read_pages(files))))
    weights_load(model, run, f"a reader {name}")
    model.to(device_found()).eval()

    def predicted(example: Example) -> Prediction:
        page = page_of(example)
        if not page.passages:
            return no_answer(example)
        with torch.inference_mode():
            said = model.answer(page)
        shorts = [said.short] if said.short else []
        return prediction(example, said.long, shorts, long_score=said.long_score, short_score=said.short_score)

    return predictions_write(to, files, predicted, run=run, say=say)


def _check_vectors(record: Mapping[str, Any], vectors: Path, run: Path) -> None:
    now = sources_of(Recipe(""), vectors_files(vectors), [])["encoder"]
    if sorted(now.values()) != sorted(record["encoder"].values()):
        raise EvaluationError(f"{vectors}: isn't what {run} was trained with")
