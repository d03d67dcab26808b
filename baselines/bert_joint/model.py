"""BERT joint: an encoder with a head for the ends of the answer and a head for its kind (Alberti, Lee and Collins 2019)."""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor, nn
from transformers import BertModel

from baselines.encoders import config_read, config_write, weights_load
from baselines.loop import tensors_save
from baselines.nq.windows import Kind
from baselines.runs import WEIGHTS

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


def model_save(model: BertJoint, folder: Path) -> None:
    """Write a model into a folder: its settings, then its weights, whole or not at all."""
    config_write(model.encoder, folder)
    tensors_save(model, folder / WEIGHTS)


def model_load(folder: Path) -> BertJoint:
    """Return the model of a folder that `model_save` wrote.

    Raises
    ------
    EvaluationError
        The folder doesn't hold one.
    """
    model = BertJoint(BertModel(config_read(folder)))
    weights_load(model, folder, "a model of BERT joint")
    return model
