"""Vectors of words: from a file in GloVe's format, or from the table of embeddings of an encoder."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from baselines.encoders import VOCABULARY, encoder_files, encoder_load
from baselines.nq.vocabulary import pieces_read
from evaluation.files import EvaluationError
from storage.text_files import LineFault, naming, text_lines

MOST_WORDS = 10_000_000  # of a file; the largest published one has 2.2 million
Floats = npt.NDArray[np.float32]


class WordVectors:
    """The vectors of the words in some texts. Words without a vector, and padding, have zeros."""

    def __init__(self, vectors: dict[str, Floats], width: int) -> None:
        self.width = width
        self._rows = {word: row for row, word in enumerate(vectors, 1)}
        self._table = torch.from_numpy(np.stack([np.zeros(width, np.float32), *vectors.values()]))

    def padded(self, texts: Sequence[Sequence[str]], device: torch.device) -> tuple[Tensor, Tensor]:
        """Return the vectors of words, shape (texts, longest, width), and a mask without padding, (texts, longest)."""
        longest = max(1, *map(len, texts)) if texts else 1
        rows = np.zeros((len(texts), longest), dtype=np.int64)
        mask = np.zeros((len(texts), longest), dtype=np.bool_)
        for number, words in enumerate(texts):
            rows[number, : len(words)] = [self._row(word) for word in words]
            mask[number, : len(words)] = True
        return self._table[torch.from_numpy(rows)].to(device), torch.from_numpy(mask).to(device)

    def _row(self, word: str) -> int:
        return self._rows.get(word) or self._rows.get(word.lower(), 0)


def vectors_files(source: Path) -> list[Path]:
    """Return the files that vectors are read from."""
    return encoder_files(source) if source.is_dir() else [source]


def vectors_read(source: Path, words: Collection[str]) -> WordVectors:
    """Return the vectors of these words; of a file in GloVe's format, only these are kept in memory.

    Parameters
    ----------
    source
        A file with a word and its numbers on each line, with spaces between them, or the folder of an encoder. There,
        the vector of a word is the mean of its pieces' embeddings, scaled so that numbers have a deviation of 1.

    Raises
    ------
    EvaluationError
        The file isn't in this format, or the folder isn't that of an encoder.
    """
    return _of_encoder(source, words) if source.is_dir() else _of_file(source, words)


def _of_encoder(folder: Path, words: Iterable[str]) -> WordVectors:
    vocabulary = pieces_read(folder / VOCABULARY)
    encoder = encoder_load(folder, pieces=len(vocabulary), length=1)
    table: Floats = encoder.get_input_embeddings().weight.detach().numpy()
    table = table / table.std()
    found = {word: table[list(pieces)].mean(0) for word in sorted(words) if (pieces := vocabulary.pieces(word))}
    return WordVectors(found, table.shape[1])


def _of_file(path: Path, words: Collection[str]) -> WordVectors:
    wanted = {*words, *(word.lower() for word in words)}
    found: dict[str, Floats] = {}
    width = 0
    for number, line in text_lines(path, most=MOST_WORDS):
        with naming(path, number):
            parts = line.rstrip(" ").split(" ")
            if number == 1 and len(parts) == 2:  # word2vec's format has a line of counts first
                continue
            width = width or len(parts) - 1
            if len(parts) <= width:
                raise LineFault(f"expected a word and {width} finite numbers")
            word = " ".join(parts[:-width])  # some words have spaces
            if word in wanted:
                found[word] = _numbers(parts[-width:])
    if not found:
        raise EvaluationError(f"{path}: has none of the {len(words):,} words of these texts")
    return WordVectors(found, width)


def _numbers(texts: Sequence[str]) -> Floats:
    try:
        row = np.array(texts, dtype=np.float32)
    except ValueError as error:
        raise LineFault(str(error)) from error
    if not np.isfinite(row).all():
        raise LineFault(f"expected a word and {len(row)} finite numbers")
    return row
