"""BERT joint: an encoder with a head for the ends of the answer and a head for its kind (Alberti, Lee and Collins 2019)."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported: nothing is ever fetched

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from baselines.nq.windows import Kind
from evaluation.files import EvaluationError

WEIGHTS, CONFIG, VOCABULARY = "model.safetensors", "config.json", "vocab.txt"
_SPREAD = 0.02  # of the heads' first weights


class Scores(NamedTuple):
    """Logits: of the first and of the last piece, shape (windows, length), and of the kind, shape (windows, kinds)."""

    starts: Tensor
    ends: Tensor
    kinds: Tensor


class BertJoint(nn.Module):
    """An encoder with its pooler, and two linear heads."""

    def __init__(self, encoder: BertModel) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.config.hidden_size
        self.ends = nn.Linear(width, 2)
        self.kind = nn.Linear(width, len(Kind))
        for head in (self.ends, self.kind):
            nn.init.trunc_normal_(head.weight, std=_SPREAD)
            nn.init.zeros_(head.bias)

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Scores:
        """Return the scores of windows; ``mask`` is 1 for pieces and 0 for padding."""
        found = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=segments)
        starts, ends = self.ends(found.last_hidden_state).unbind(-1)
        return Scores(starts, ends, self.kind(found.pooler_output))


def loss_of(scores: Scores, starts: Tensor, ends: Tensor, kinds: Tensor) -> Tensor:
    """Return the mean of three negative log-likelihoods: of the first piece, of the last, and of the kind."""
    nll = nn.functional.cross_entropy
    return (nll(scores.starts, starts) + nll(scores.ends, ends) + nll(scores.kinds, kinds)) / 3


def encoder_load(folder: Path) -> BertModel:
    """Return the encoder of a local folder in Hugging Face form, with its pooler.

    Only ``config.json`` and ``model.safetensors`` are read: no pickle, no code of the folder, nothing from the network.

    Raises
    ------
    EvaluationError
        The folder isn't that of a BERT encoder.
    """
    config = _config(folder)
    if not (folder / WEIGHTS).is_file():
        raise EvaluationError(f"{folder}: has no {WEIGHTS}: weights in other files, pickles among them, aren't read")
    try:
        encoder: BertModel = BertModel.from_pretrained(
            folder, config=config, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise EvaluationError(f"{folder}: isn't a BERT encoder: {error}") from error
    return encoder


def _config(folder: Path) -> BertConfig:
    try:
        settings: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{folder / CONFIG}: can't be read: {error}") from error
    if not isinstance(settings, dict) or settings.get("model_type") != "bert":
        raise EvaluationError(f"{folder / CONFIG}: isn't of a BERT model (model_type)")
    try:
        return BertConfig(**settings)
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{folder / CONFIG}: {error}") from error


def model_save(model: BertJoint, folder: Path) -> None:
    """Write a model into a folder: its settings, then its weights, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(model.encoder.config.to_dict(), indent=2, sort_keys=True) + "\n")
    part = folder / f"{WEIGHTS}.part"
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, part)
    part.replace(folder / WEIGHTS)


def model_load(folder: Path) -> BertJoint:
    """Return the model of a folder that `model_save` wrote.

    Raises
    ------
    EvaluationError
        The folder doesn't hold one.
    """
    model = BertJoint(BertModel(_config(folder)))
    try:
        model.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise EvaluationError(f"{folder / WEIGHTS}: isn't a model of BERT joint: {error}") from error
    return model


def device_found() -> torch.device:
    """Return the GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
