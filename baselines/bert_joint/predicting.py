"""Predictions of a trained BERT joint."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from baselines.bert_joint.decoding import WindowScores, best_span, prediction_of
from baselines.bert_joint.instances import windows_for
from baselines.bert_joint.model import BertJoint, model_load
from baselines.bert_joint.training import recipe_of
from baselines.encoders import VOCABULARY
from baselines.loop import device_found
from baselines.nq.examples import Example
from baselines.nq.predictions import Prediction, predictions_write
from baselines.nq.vocabulary import PAD, Vocabulary, vocabulary_read
from baselines.nq.windows import Shape
from baselines.runs import record_read

BATCH = 8


def predict(
    run: Path, *, files: Sequence[Path], to: Path, say: Callable[[str], object], with_kinds: bool = False
) -> dict[str, int]:
    """Write predictions in the official evaluation's format; return how many there are, and how many have an answer.

    Raises
    ------
    EvaluationError
        The run's folder holds no trained model, or a file can't be read.
    """
    shape, vocabulary = recipe_of(record_read(run)).shape, vocabulary_read(run / VOCABULARY)
    device = device_found()
    model = model_load(run).to(device).eval()

    def predicted(example: Example) -> Prediction:
        found = best_span(_scores(example, model, vocabulary, shape, device))
        return prediction_of(example, found, with_kinds=with_kinds)

    return predictions_write(to, files, predicted, run=run, options={"with_kinds": with_kinds}, say=say)


def _scores(
    example: Example, model: BertJoint, vocabulary: Vocabulary, shape: Shape, device: torch.device
) -> list[WindowScores]:
    windows, batch = windows_for(example, vocabulary, shape, vocabulary[PAD])
    scores: list[WindowScores] = []
    for start in range(0, len(windows.kinds), BATCH):
        parts = (batch.ids, batch.mask, batch.segments)
        ids, mask, segments = (torch.from_numpy(part[start : start + BATCH]).to(device) for part in parts)
        with torch.inference_mode():
            found = model(ids, mask, segments)
        rows = zip(*(part.float().cpu().numpy() for part in found), windows.tokens[start : start + BATCH], strict=True)
        scores += [WindowScores(*row) for row in rows]
    return scores
