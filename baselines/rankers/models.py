"""Rankers of the ANTIQUE paper (section 5, Table 2), and the control that cannot see the question.

A ranker gives each pair of a question and an answer a score. All take word pieces of the encoder's vocabulary.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from transformers import BertModel

from baselines.nq.vocabulary import CLS, PAD, SEP, Vocabulary

LONGEST = 128  # pieces of a pair, or of one text
_SPREAD = 0.02
Texts = Sequence[str]


class Ranker(nn.Module):
    """A model that scores pairs."""

    key: ClassVar[str]
    about: ClassVar[str]

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary

    @abstractmethod
    def forward(self, questions: Texts, answers: Texts) -> Tensor:
        """Return the scores of pairs, shape (pairs,)."""

    def loss(self, better: Tensor, worse: Tensor) -> Tensor:
        """Return the mean loss of score pairs, the first of which should be greater: the softplus of the difference."""
        return nn.functional.softplus(worse - better).mean()

    def pieces(self, text: str) -> list[int]:
        """Return the word pieces of a text."""
        return [piece for word in text.split() for piece in self.vocabulary.pieces(word)]

    def padded(self, rows: Sequence[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
        """Return rows of pieces as one tensor, and a mask that excludes padding."""
        length = max(1, *(len(row) for row in rows))
        ids = torch.full((len(rows), length), self.vocabulary[PAD], dtype=torch.long, device=device)
        mask = torch.zeros((len(rows), length), dtype=torch.long, device=device)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row, dtype=torch.long, device=device)
            mask[number, : len(row)] = 1
        return ids, mask


class CrossEncoder(Ranker):
    """The paper's BERT: question and answer in one text, a linear layer on the pooled ``[CLS]``."""

    key = "bert"
    about = "BERT over question and answer together"

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary)
        self.encoder = encoder
        self.score = nn.Linear(encoder.config.hidden_size, 1)
        nn.init.trunc_normal_(self.score.weight, std=_SPREAD)
        nn.init.zeros_(self.score.bias)

    def forward(self, questions: Texts, answers: Texts) -> Tensor:
        """Return the scores of pairs; of a pair that is too long, the answer is cut."""
        begin, end = self.vocabulary[CLS], self.vocabulary[SEP]
        heads = [[begin, *self.pieces(one)[: LONGEST // 2], end] for one in questions]
        tails = [[*self.pieces(one)[: LONGEST - len(head) - 1], end] for one, head in zip(answers, heads, strict=True)]
        device = self.score.weight.device
        ids, mask = self.padded([head + tail for head, tail in zip(heads, tails, strict=True)], device)
        segments = torch.zeros_like(ids)
        for number, (head, tail) in enumerate(zip(heads, tails, strict=True)):
            segments[number, len(head) : len(head) + len(tail)] = 1
        pooled = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=segments).pooler_output
        return self.score(pooled).squeeze(-1)


class BiEncoder(Ranker):
    """Question and answer apart: the cosine of their mean vectors, so that answers can be encoded once."""

    key = "bi-encoder"
    about = "the cosine of the mean vectors of question and answer"
    SHARPNESS: ClassVar[float] = 20.0  # of cosines, in the loss

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary)
        self.encoder = encoder

    def forward(self, questions: Texts, answers: Texts) -> Tensor:
        """Return the cosines of pairs."""
        return (self._vectors(questions) * self._vectors(answers)).sum(-1)

    def loss(self, better: Tensor, worse: Tensor) -> Tensor:
        """Return the softplus of the difference, sharpened."""
        return super().loss(better * self.SHARPNESS, worse * self.SHARPNESS)

    def _vectors(self, texts: Texts) -> Tensor:
        begin, end = self.vocabulary[CLS], self.vocabulary[SEP]
        device = next(self.encoder.parameters()).device
        ids, mask = self.padded([[begin, *self.pieces(one)[: LONGEST - 2], end] for one in texts], device)
        last = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(last.dtype)
        return nn.functional.normalize((last * weights).sum(1) / weights.sum(1), dim=-1)


class _Matching(Ranker):
    """Cosines between the pieces of question and answer, summed over the question's by a gate; hinge loss."""

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary)
        own = encoder.get_input_embeddings().weight
        known = own.detach()
        self.embedding = nn.Embedding.from_pretrained(known.clone(), freeze=not own.requires_grad)
        self.gate = nn.Linear(known.shape[1], 1, bias=False)

    @abstractmethod
    def matched(self, cosines: Tensor, there: Tensor) -> Tensor:
        """Return the match of each piece of the question, shape (pairs, question).

        Parameters
        ----------
        cosines, there
            Shape (pairs, question, answer), and whether a position of the answer isn't padding.
        """

    def forward(self, questions: Texts, answers: Texts) -> Tensor:
        """Return the scores of pairs."""
        device = self.gate.weight.device
        asked, is_asked = self.padded([self.pieces(one)[: LONGEST // 2] for one in questions], device)
        said, is_said = self.padded([self.pieces(one)[:LONGEST] for one in answers], device)
        words = self.embedding(asked)
        cosines = nn.functional.normalize(words, dim=-1) @ nn.functional.normalize(self.embedding(said), dim=-1).mT
        there = is_said.bool().unsqueeze(1).expand_as(cosines)
        gates = self.gate(words).squeeze(-1).masked_fill(is_asked == 0, torch.finfo(words.dtype).min).softmax(-1)
        return (gates * self.matched(cosines, there) * is_asked).sum(-1)

    def loss(self, better: Tensor, worse: Tensor) -> Tensor:
        """Return the hinge loss with a margin of 1."""
        return nn.functional.relu(1 - better + worse).mean()


class DRMMTKS(_Matching):
    """DRMM with the k largest cosines of each question word instead of a histogram (a variant that MatchZoo named)."""

    key = "drmm-tks"
    about = "the largest cosines of each word of the question, by a small network"
    K: ClassVar[int] = 10

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary)
        self.network = nn.Sequential(nn.Linear(self.K, 5), nn.Tanh(), nn.Linear(5, 1))

    def matched(self, cosines: Tensor, there: Tensor) -> Tensor:
        """Return the network's output for the largest cosines; if there are fewer, -1 replaces the missing ones."""
        known = cosines.masked_fill(~there, -1.0)
        short = max(0, self.K - known.shape[-1])
        largest = nn.functional.pad(known, (0, short), value=-1.0).topk(self.K, dim=-1).values
        return self.network(largest).squeeze(-1)


class ANMM(_Matching):
    """aNMM: the cosines of each question word summed in bins of their value, with one weight for each bin."""

    key = "anmm"
    about = "the cosines of each word of the question, in bins with weights"
    BINS: ClassVar[int] = 200

    def __init__(self, encoder: BertModel, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary)
        self.network = nn.Sequential(nn.Linear(self.BINS, 1), nn.Tanh(), nn.Linear(1, 1))

    def matched(self, cosines: Tensor, there: Tensor) -> Tensor:
        """Return what the weights make of the bins: a bin's input is the sum of its cosines, not their number."""
        bins = ((cosines.clamp(-1, 1) + 1) / 2 * (self.BINS - 1)).round().long()
        sums = torch.zeros((*cosines.shape[:2], self.BINS), dtype=cosines.dtype, device=cosines.device)
        sums = sums.scatter_add(-1, bins, cosines * there)
        return self.network(sums).squeeze(-1)


class Blind(CrossEncoder):
    """The control: the cross-encoder with the question left out, which learns what good answers look like by themselves."""

    key = "blind"
    about = "the control: BERT over the answer alone"

    def forward(self, questions: Texts, answers: Texts) -> Tensor:
        """Return the scores of answers."""
        return super().forward([""] * len(questions), answers)


RANKERS: dict[str, Callable[[BertModel, Vocabulary], Ranker]] = {
    one.key: one for one in (CrossEncoder, BiEncoder, DRMMTKS, ANMM, Blind)
}
