"""Layers of the readers. Each ignores padding."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

LEAST = -1e9  # the logit of a place that may not be chosen


def softmax_over(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Return the softmax over a dimension without the masked positions."""
    return scores.masked_fill(~mask, LEAST).softmax(dim)


class Recurrent(nn.Module):
    """A recurrent layer in both directions, shape (texts, longest, in) to (texts, longest, 2 × out)."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU], width: int, out: int) -> None:
        super().__init__()
        self.layer = kind(width, out, batch_first=True, bidirectional=True)

    def forward(self, texts: Tensor, mask: Tensor) -> Tensor:
        """Return the states of each position; those of padding are 0."""
        packed = pack_padded_sequence(texts, mask.sum(1).clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.layer(packed)[0], batch_first=True, total_length=texts.shape[1])
        return found


class Stacked(nn.Module):
    """Stacked recurrent layers, whose states are concatenated (Chen et al. 2017)."""

    def __init__(self, width: int, out: int, layers: int, dropout: float) -> None:
        super().__init__()
        widths = [width, *[2 * out] * (layers - 1)]
        self.layers = nn.ModuleList(Recurrent(nn.LSTM, one, out) for one in widths)
        self.dropout = nn.Dropout(dropout)
        self.width = 2 * out * layers

    def forward(self, texts: Tensor, mask: Tensor) -> Tensor:
        """Return the states of all layers."""
        states = [texts]
        for layer in self.layers:
            states.append(layer(self.dropout(states[-1]), mask))
        return torch.cat(states[1:], dim=-1)


class Trilinear(nn.Module):
    """The similarity of each position in one text with each in another: w·[a, b, a∘b] (Seo et al. 2017)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, 1, bias=False), nn.Linear(width, 1, bias=False)
        self.both = nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return similarities, shape (texts, positions of the first, positions of the second)."""
        return self.first(first) + self.second(second).mT + (first * self.both) @ second.mT


def two_layers(width: int, out: int, dropout: float) -> nn.Sequential:
    """Return two layers with ReLU."""
    return nn.Sequential(
        nn.Dropout(dropout), nn.Linear(width, out), nn.ReLU(), nn.Dropout(dropout), nn.Linear(out, out), nn.ReLU()
    )
