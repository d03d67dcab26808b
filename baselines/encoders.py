"""Encoders that users provide: a local folder in Hugging Face form; only settings, weights and vocabulary are read."""

import json
import os
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported: nothing is ever fetched

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertModel

from baselines.runs import WEIGHTS
from evaluation.files import EvaluationError

CONFIG, VOCABULARY = "config.json", "vocab.txt"


def encoder_files(folder: Path) -> list[Path]:
    """Return the files of an encoder's folder that are read."""
    return [folder / name for name in (CONFIG, WEIGHTS, VOCABULARY)]


def encoder_load(folder: Path, *, pieces: int, length: int) -> BertModel:
    """Return the encoder of a local folder in Hugging Face form, with its pooler.

    Only ``config.json`` and ``model.safetensors`` are read: no pickle, no code of the folder, nothing from the network.

    Parameters
    ----------
    pieces, length
        How many word pieces its vocabulary has, and how many pieces a text will have at most.

    Raises
    ------
    EvaluationError
        The folder isn't that of a BERT encoder, or it is too small.
    """
    config = config_read(folder)
    if not (folder / WEIGHTS).is_file():
        raise EvaluationError(f"{folder}: has no {WEIGHTS}: weights in other files, pickles among them, aren't read")
    try:
        encoder: BertModel = BertModel.from_pretrained(
            folder, config=config, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise EvaluationError(f"{folder}: isn't a BERT encoder: {error}") from error
    if config.vocab_size < pieces:
        raise EvaluationError(f"{folder}: knows {config.vocab_size:,} pieces, its vocabulary {pieces:,}")
    if config.max_position_embeddings < length:
        raise EvaluationError(f"{folder}: takes at most {config.max_position_embeddings} pieces, not {length}")
    return encoder


def config_read(folder: Path) -> BertConfig:
    """Return the settings of a BERT model.

    Raises
    ------
    EvaluationError
        The settings can't be read, or belong to another kind of model.
    """
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


def config_write(encoder: BertModel, folder: Path) -> None:
    """Write the settings of an encoder into a folder."""
    settings: dict[str, Any] = encoder.config.to_dict()
    (folder / CONFIG).write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n")


def weights_load(model: nn.Module, folder: Path, what: str) -> None:
    """Load the weights of a folder into a model.

    Raises
    ------
    EvaluationError
        The weights don't fit the model, which the message calls ``what``.
    """
    try:
        model.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise EvaluationError(f"{folder / WEIGHTS}: isn't {what}: {error}") from error


def freeze(encoder: BertModel, layers: int) -> None:
    """Keep an encoder's embeddings and this many first layers unchanged; 0 freezes nothing."""
    if layers:
        for part in (encoder.embeddings, *encoder.encoder.layer[:layers]):
            part.requires_grad_(requires_grad=False)
