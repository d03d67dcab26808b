"""Predictions of a trained BERT joint, page by page, resumed after an interruption."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import torch

from baselines.bert_joint.decoding import WindowScores, best_span, prediction_of
from baselines.bert_joint.instances import windows_for
from baselines.bert_joint.model import BertJoint, model_load
from baselines.bert_joint.training import recipe_of
from baselines.encoders import VOCABULARY
from baselines.loop import device_found
from baselines.nq.examples import Example, read_examples
from baselines.nq.vocabulary import PAD, Vocabulary, vocabulary_read
from baselines.nq.windows import Shape
from baselines.runs import record_read, sha256_of

BATCH = 8
SAID_EVERY = 20


def predict(
    run: Path, *, files: Sequence[Path], to: Path, say: Callable[[str], object], with_kinds: bool = False
) -> dict[str, int]:
    """Write the predictions for files as the official evaluation takes them; return how many, and how many answer.

    Predictions that an interrupted call made are kept beside ``to`` until all are there.

    Raises
    ------
    EvaluationError
        The run's folder holds no trained model, or a file can't be read.
    """
    shape, vocabulary = recipe_of(record_read(run)).shape, vocabulary_read(run / VOCABULARY)
    device = device_found()
    model = model_load(run).to(device).eval()
    asked = {"files": [sha256_of(path) for path in sorted(files)], "with_kinds": with_kinds}
    part = to.with_name(f"{to.name}.part")
    kept = _kept(part, asked)
    with part.open("ab") as file:
        if not kept:
            file.write(orjson.dumps(asked) + b"\n")
        for number, example in enumerate(read_examples(files), 1):
            if number > len(kept):
                kept.append(_predicted(example, model, vocabulary, shape, device, with_kinds=with_kinds))
                file.write(orjson.dumps(kept[-1]) + b"\n")
                file.flush()
                if number % SAID_EVERY == 0:
                    say(f"{number:,} pages")
    to.write_text(json.dumps({"predictions": kept}), encoding="utf-8")
    part.unlink()
    return {"predictions": len(kept), "answered": sum(one["long_answer"]["start_token"] >= 0 for one in kept)}


def _kept(part: Path, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predictions of an interrupted call that asked for the same; a line that was cut off is made again."""
    if not part.exists():
        return []
    lines = part.read_bytes().split(b"\n")
    whole = lines[:-1]
    if not whole or orjson.loads(whole[0]) != asked:
        part.unlink()
        return []
    part.write_bytes(b"".join(line + b"\n" for line in whole))
    return [orjson.loads(line) for line in whole[1:]]


def _predicted(
    example: Example, model: BertJoint, vocabulary: Vocabulary, shape: Shape, device: torch.device, *, with_kinds: bool
) -> dict[str, Any]:
    windows, batch = windows_for(example, vocabulary, shape, vocabulary[PAD])
    scores: list[WindowScores] = []
    for start in range(0, len(windows.kinds), BATCH):
        parts = (batch.ids, batch.mask, batch.segments)
        ids, mask, segments = (torch.from_numpy(part[start : start + BATCH]).to(device) for part in parts)
        with torch.inference_mode():
            found = model(ids, mask, segments)
        rows = zip(*(part.float().cpu().numpy() for part in found), windows.tokens[start : start + BATCH], strict=True)
        scores += [WindowScores(*row) for row in rows]
    return prediction_of(example, best_span(scores), with_kinds=with_kinds)
