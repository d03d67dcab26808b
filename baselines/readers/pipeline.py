"""DecAtt chooses the passage, and DocReader the answer in it (section 6.3 of the Natural Questions paper).

DecAtt is of Parikh et al. 2016, DocReader of Chen et al. 2017. Both are trained at once; they share no weights.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from baselines.readers.layers import LEAST, Stacked, softmax_over, two_layers
from baselines.readers.pages import Page, Passage, Target
from baselines.readers.reader import Reader, Said, best_of, tokens_of
from baselines.readers.vectors import WordVectors

PLACES = 20  # each of the first 19 passages has an embedding of its own, the others share one
NULL_WEIGHT = 0.5  # of pages without an answer, and of passages without a short one: 1 - η, which the paper leaves open
LONGEST_ANSWER = 15  # words


class DecAtt(nn.Module):
    """The score of a passage by decomposable attention: attend, compare, aggregate."""

    def __init__(self, width: int, hidden: int = 200, dropout: float = 0.2) -> None:
        super().__init__()
        self.project = nn.Linear(width, hidden, bias=False)
        self.attend = two_layers(hidden, hidden, dropout)
        self.compare = two_layers(2 * hidden, hidden, dropout)
        self.aggregate = nn.Sequential(two_layers(2 * hidden, hidden, dropout), nn.Linear(hidden, 1))

    def forward(self, asked: Tensor, is_asked: Tensor, words: Tensor, is_word: Tensor) -> Tensor:
        """Return the scores of pairs of question and passage, shape (pairs,)."""
        asked, words = self.project(asked), self.project(words)
        likeness = self.attend(asked) @ self.attend(words).mT
        to_words = softmax_over(likeness, is_word.unsqueeze(1)) @ words
        to_asked = softmax_over(likeness, is_asked.unsqueeze(2), dim=1).mT @ asked
        compared = [
            (self.compare(torch.cat([own, other], dim=-1)) * mask.unsqueeze(-1)).sum(1)
            for own, other, mask in ((asked, to_words, is_asked), (words, to_asked, is_word))
        ]
        return self.aggregate(torch.cat(compared, dim=-1)).squeeze(-1)


class DocReader(nn.Module):
    """A model of the first and last word of a passage's answer, and of the score that the passage has no answer."""

    def __init__(self, width: int, hidden: int = 128, layers: int = 3, dropout: float = 0.4) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.align = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.of_words = Stacked(2 * width + 2, hidden, layers, dropout)
        self.of_question = Stacked(width, hidden, layers, dropout)
        self.weigh = nn.Linear(self.of_question.width, 1)
        self.start, self.end = (nn.Linear(self.of_question.width, self.of_words.width) for _ in range(2))
        self.null = nn.Linear(self.of_question.width, 2)

    def forward(
        self, asked: Tensor, is_asked: Tensor, words: Tensor, is_word: Tensor, extra: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return logits of first and last word, shape (pairs, 1 + longest): position 0 says that there is no answer.

        ``extra``, shape (pairs, longest, 2), says whether the question has a word, and how frequent it is in the passage.
        """
        asked, words = self.dropout(asked), self.dropout(words)
        weights = softmax_over(self.align(words) @ self.align(asked).mT, is_asked.unsqueeze(1))
        places = self.of_words(torch.cat([words, weights @ asked, extra], dim=-1), is_word)
        states = self.of_question(asked, is_asked)
        question = (softmax_over(self.weigh(states).squeeze(-1), is_asked).unsqueeze(-1) * states).sum(1)
        starts, ends = (
            (places @ head(question).unsqueeze(-1)).squeeze(-1).masked_fill(~is_word, LEAST)
            for head in (self.start, self.end)
        )
        nothing = self.null(question)
        return torch.cat([nothing[:, :1], starts], dim=1), torch.cat([nothing[:, 1:], ends], dim=1)


class Pipeline(Reader):
    """DecAtt, then DocReader."""

    key = "decatt-docreader"
    about = "DecAtt chooses the passage, DocReader the answer in it"

    def __init__(self, vectors: WordVectors) -> None:
        super().__init__()
        self.vectors = vectors
        self.decatt, self.docreader = DecAtt(vectors.width), DocReader(vectors.width)
        self.place = nn.Embedding(PLACES, 10)
        self.total = nn.Linear(1 + 10 + 2, 1)
        self.null = nn.Parameter(torch.zeros(1))

    def loss(self, pages: Sequence[Page]) -> Tensor:
        """Return the negative log-likelihood of the passages, and of the answers in those that are right."""
        long = torch.stack(
            [self._long_loss(page, logits) for page, logits in zip(pages, self._boxes(pages), strict=True)]
        )
        right = [(page, page.target) for page in pages if page.target]
        return long.mean() + (self._short_loss(right) if right else 0)

    def answer(self, page: Page) -> Said:
        """Return the best passage, and the best answer in it; scores are log-probabilities."""
        (logits,) = self._boxes([page])
        logs = logits.log_softmax(0)[:-1]
        best = int(logs.argmax())
        passage = page.passages[best]
        starts, ends = (one[0].log_softmax(0)[1:] for one in self._spans([(page.question, passage)]))
        score, first, last = best_of(starts, ends, LONGEST_ANSWER)
        long = float(logs[best])
        short = tokens_of(passage.tokens, first, last)
        return Said((passage.box.start, passage.box.end), short, long, long + score)

    def _boxes(self, pages: Sequence[Page]) -> list[Tensor]:
        """Return the logits of each page's passages; the last one stands for no passage."""
        pairs = [(page.question, passage) for page in pages for passage in page.passages]
        device = self.null.device
        asked, words = self._texts(pairs)
        numbers = [number for page in pages for number in range(len(page.passages))]
        places = self.place(torch.tensor(numbers, device=device).clamp(max=PLACES - 1))
        shared = torch.tensor([[one.shared, one.weighted] for _, one in pairs], dtype=places.dtype, device=device)
        score = self.decatt(*asked, *words).unsqueeze(-1)
        logits = self.total(torch.cat([score, places, shared], dim=-1)).squeeze(-1)
        parts = logits.split([len(page.passages) for page in pages])
        return [torch.cat([part, self.null.to(part.dtype)]) for part in parts]

    def _long_loss(self, page: Page, logits: Tensor) -> Tensor:
        logs = logits.float().log_softmax(0)
        return -logs[page.target.passage] if page.target else -NULL_WEIGHT * logs[-1]

    def _short_loss(self, right: Sequence[tuple[Page, Target]]) -> Tensor:
        """Return the loss of the answers in the right passages; position 0 is for a passage without an answer."""
        pairs = [(page.question, page.passages[target.passage]) for page, target in right]
        wanted = [(target.span[0] + 1, target.span[1] + 1) if target.span else (0, 0) for _, target in right]
        device = self.null.device
        weights = torch.tensor([1.0 if target.span else NULL_WEIGHT for _, target in right], device=device)
        losses = [
            nn.functional.cross_entropy(logits.float(), torch.tensor(places, device=device), reduction="none")
            for logits, places in zip(self._spans(pairs), zip(*wanted, strict=True), strict=True)
        ]
        return (sum(losses) * weights).mean()

    def _spans(self, pairs: Sequence[tuple[list[str], Passage]]) -> tuple[Tensor, Tensor]:
        asked, words = self._texts(pairs)
        extra = torch.zeros((*words[1].shape, 2), dtype=words[0].dtype)
        for number, (question, passage) in enumerate(pairs):
            own = [word.lower() for word in passage.words]
            known = {word.lower() for word in question}
            extra[number, : len(own), 0] = torch.tensor([float(word in known) for word in own])
            extra[number, : len(own), 1] = torch.tensor([own.count(word) / len(own) for word in own])
        found: tuple[Tensor, Tensor] = self.docreader(*asked, *words, extra.to(self.null.device))
        return found

    def _texts(self, pairs: Sequence[tuple[list[str], Passage]]) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        device = self.null.device
        asked = self.vectors.padded([question for question, _ in pairs], device)
        return asked, self.vectors.padded([passage.words for _, passage in pairs], device)
