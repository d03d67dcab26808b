"""DocumentQA with normalization over the passages of a page (section 6.2 of the Natural Questions paper; Clark and Gardner 2018)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from baselines.readers.layers import LEAST, Recurrent, Trilinear, softmax_over
from baselines.readers.pages import Page
from baselines.readers.reader import Reader, Said, best_of, tokens_of
from baselines.readers.vectors import WordVectors

MOST_PASSAGES = 16
LONGEST_ANSWER = 17  # words
LETTERS = 16  # bytes of a word that are read
HIDDEN = 100
DROPOUT = 0.2


class Spelling(nn.Module):
    """Vectors of words from their spelling: a convolution over bytes."""

    def __init__(self, width: int = 20, filters: int = 100, reach: int = 5) -> None:
        super().__init__()
        self.letters = nn.Embedding(257, width, padding_idx=0)
        self.filters = nn.Conv1d(width, filters, reach)

    def forward(self, texts: Sequence[Sequence[str]], longest: int) -> Tensor:
        """Return vectors, shape (texts, longest, filters); each word is computed once."""
        numbers = {word: number for number, word in enumerate(sorted({word for text in texts for word in text}), 1)}
        rows = torch.zeros((len(numbers) + 1, LETTERS), dtype=torch.long)
        for word, number in numbers.items():
            letters = word.encode()[:LETTERS]
            rows[number, : len(letters)] = torch.tensor([letter + 1 for letter in letters])
        places = torch.zeros((len(texts), longest), dtype=torch.long)
        for number, text in enumerate(texts):
            places[number, : len(text)] = torch.tensor([numbers[word] for word in text], dtype=torch.long)
        device = self.letters.weight.device
        found = self.filters(self.letters(rows.to(device)).mT).relu().amax(-1)
        return found[places.to(device)]


class DocumentQA(Reader):
    """A model with attention in both directions and over the passage itself, which predicts first and last word.

    A passage begins and ends with a special mark. An answer from the first mark to the last is the whole passage: a
    long answer without a short one.
    """

    key = "documentqa"
    about = "DocumentQA, normalised over the passages of a page"

    def __init__(self, vectors: WordVectors) -> None:
        super().__init__()
        self.vectors = vectors
        self.spelling = Spelling()
        self.signs = nn.Parameter(torch.empty(2, vectors.width).normal_(std=0.3))
        self.dropout = nn.Dropout(DROPOUT)
        self.read = Recurrent(nn.GRU, vectors.width + 100, HIDDEN)
        self.both = Trilinear(2 * HIDDEN)
        self.merge = nn.Sequential(nn.Linear(8 * HIDDEN, 2 * HIDDEN), nn.ReLU())
        self.again = Recurrent(nn.GRU, 2 * HIDDEN, HIDDEN)
        self.itself = Trilinear(2 * HIDDEN)
        self.residual = nn.Sequential(nn.Linear(6 * HIDDEN, 2 * HIDDEN), nn.ReLU())
        self.to_start, self.to_end = Recurrent(nn.GRU, 2 * HIDDEN, HIDDEN), Recurrent(nn.GRU, 4 * HIDDEN, HIDDEN)
        self.start, self.end = nn.Linear(2 * HIDDEN, 1), nn.Linear(2 * HIDDEN, 1)

    def learns_from(self, page: Page) -> bool:
        """Return whether a page has an answer: the paper trains only on pages that do."""
        return page.target is not None

    def loss(self, pages: Sequence[Page]) -> Tensor:
        """Return the negative log-likelihoods of first and last word over all passages of a page."""
        losses = []
        chosen = [best_passages(page) for page in pages]
        for page, own, (starts, ends) in zip(pages, chosen, self._logits(pages, chosen), strict=True):
            assert page.target is not None
            place = own.index(page.target.passage)
            longest = starts.shape[1]
            last = len(page.passages[page.target.passage].words) + 1
            first, last = (page.target.span[0] + 1, page.target.span[1] + 1) if page.target.span else (0, last)
            logs = (one.flatten().float().log_softmax(0) for one in (starts, ends))
            losses.append(-sum(one[place * longest + at] for one, at in zip(logs, (first, last), strict=True)))
        return torch.stack(losses).mean()

    def answer(self, page: Page) -> Said:
        """Return the best answer of all passages; both scores are that of the span, or of the whole passage."""
        chosen = best_passages(page)
        ((starts, ends),) = self._logits([page], [chosen])
        found: list[Said] = []
        for number, first, last in zip(chosen, starts, ends, strict=True):
            passage = page.passages[number]
            length = len(passage.words)
            long = passage.box.start, passage.box.end
            whole = float(first[0] + last[length + 1])
            score, low, high = best_of(first[1 : length + 1], last[1 : length + 1], LONGEST_ANSWER)
            short = tokens_of(passage.tokens, low, high) if score >= whole else None
            best = max(score, whole)
            found.append(Said(long, short, best, best))
        return max(found, key=lambda one: one.long_score)

    def _logits(self, pages: Sequence[Page], chosen: Sequence[Sequence[int]]) -> list[tuple[Tensor, Tensor]]:
        """Return the logits of first and last word per page, shape (passages, longest), with the marks at the ends."""
        pairs = [
            (page.question, page.passages[number]) for page, own in zip(pages, chosen, strict=True) for number in own
        ]
        asked, is_asked = self._texts([question for question, _ in pairs], with_signs=False)
        words, is_word = self._texts([passage.words for _, passage in pairs], with_signs=True)
        asked, words = self.read(self.dropout(asked), is_asked), self.read(self.dropout(words), is_word)
        merged = self.merge(self.dropout(self._attended(words, is_word, asked, is_asked)))
        merged = merged + self._over_itself(merged, is_word)
        first = self.to_start(self.dropout(merged), is_word)
        last = self.to_end(self.dropout(torch.cat([merged, first], dim=-1)), is_word)
        logits = [
            head(states).squeeze(-1).masked_fill(~is_word, LEAST)
            for head, states in ((self.start, first), (self.end, last))
        ]
        counts = [len(own) for own in chosen]
        return list(zip(*(one.split(counts) for one in logits), strict=True))

    def _texts(self, texts: Sequence[list[str]], *, with_signs: bool) -> tuple[Tensor, Tensor]:
        framed = [["", *text, ""] for text in texts] if with_signs else texts
        vectors, mask = self.vectors.padded(framed, self.signs.device)
        if with_signs:
            rows = torch.arange(len(texts), device=vectors.device)
            vectors[rows, 0] = self.signs[0].to(vectors.dtype)
            vectors[rows, mask.sum(1) - 1] = self.signs[1].to(vectors.dtype)
        return torch.cat([vectors, self.spelling(framed, vectors.shape[1])], dim=-1), mask

    def _attended(self, words: Tensor, is_word: Tensor, asked: Tensor, is_asked: Tensor) -> Tensor:
        likeness = self.both(words, asked).masked_fill(~is_asked.unsqueeze(1), LEAST)
        to_asked = likeness.softmax(-1) @ asked
        weights = softmax_over(likeness.amax(-1), is_word)
        to_words = (weights.unsqueeze(-1) * words).sum(1, keepdim=True).expand_as(words)
        return torch.cat([words, to_asked, words * to_asked, words * to_words], dim=-1)

    def _over_itself(self, merged: Tensor, is_word: Tensor) -> Tensor:
        states = self.again(self.dropout(merged), is_word)
        apart = ~torch.eye(states.shape[1], dtype=torch.bool, device=states.device)
        others = softmax_over(self.itself(states, states), is_word.unsqueeze(1) & apart) @ states
        return self.residual(torch.cat([states, others, states * others], dim=-1))


def best_passages(page: Page) -> list[int]:
    """Return the passages with the most words of the question, by inverse document frequency; when training, the right one, too."""
    order = sorted(range(len(page.passages)), key=lambda at: (-page.passages[at].weighted, at))
    chosen = order[:MOST_PASSAGES]
    if page.target and page.target.passage not in chosen:
        chosen[-1] = page.target.passage
    return sorted(chosen)
