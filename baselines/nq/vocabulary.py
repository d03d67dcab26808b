"""Word pieces of an uncased BERT vocabulary, and the markup that BERT joint adds to it."""

import re
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from evaluation.files import EvaluationError

CLS, SEP, PAD, UNKNOWN = "[CLS]", "[SEP]", "[PAD]", "[UNK]"
QUESTION, NO_LONG_ANSWER = "[Q]", "[NoLongAnswer]"
KINDS = ("Paragraph", "Table", "List")
MOST_CONTEXTS = MOST_POSITIONS = 50
MARKUP = (
    QUESTION,
    NO_LONG_ANSWER,
    *(f"[ContextId={number}]" for number in range(-1, MOST_CONTEXTS + 1)),
    *(f"[{kind}={number}]" for kind in KINDS for number in range(1, MOST_POSITIONS + 1)),
)
LONGEST_WORD = 200  # letters; a longer word is unknown
_BRACKETED = re.compile(r"\[[^ ]*\]")
_UNUSED = re.compile(r"\[unused\d+\]")


class Vocabulary:
    """The ids of word pieces, looked up once per word."""

    def __init__(self, ids: dict[str, int]) -> None:
        self._ids = ids
        self._cache: dict[str, tuple[int, ...]] = {}
        model = WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=LONGEST_WORD)
        self._tokenizer = Tokenizer(model)
        self._tokenizer.normalizer = BertNormalizer(
            clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
        )
        self._tokenizer.pre_tokenizer = BertPreTokenizer()

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, piece: str) -> int:
        return self._ids.get(piece, self._ids[UNKNOWN])

    def pieces(self, word: str) -> tuple[int, ...]:
        """Return the ids of the pieces of a word; a word in brackets is one piece, or unknown."""
        found = self._cache.get(word)
        if found is None:
            is_markup = _BRACKETED.fullmatch(word) is not None
            found = (self[word],) if is_markup else tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
            self._cache[word] = found
        return found


def vocabulary_read(path: Path) -> Vocabulary:
    """Return the vocabulary of a file with one piece per line.

    The published ``vocab-nq.txt`` has the markup of BERT joint in it. In any other uncased vocabulary the markup takes
    the rows ``[unused…]``, in the order of `MARKUP`.

    Raises
    ------
    EvaluationError
        The file can't be read, lacks a special piece, or has too few unused rows.
    """
    ids = _rows(path)
    if QUESTION not in ids:
        unused = [piece for piece in ids if _UNUSED.fullmatch(piece)]
        if len(unused) < len(MARKUP):
            raise EvaluationError(f"{path}: has {len(unused)} rows [unused…], and the markup needs {len(MARKUP)}")
        for name, piece in zip(MARKUP, unused, strict=False):
            ids[name] = ids.pop(piece)
    return Vocabulary(ids)


def pieces_read(path: Path) -> Vocabulary:
    """Return the vocabulary of a file unchanged, without the markup of BERT joint.

    Raises
    ------
    EvaluationError
        The file can't be read, or lacks a special piece.
    """
    return Vocabulary(_rows(path))


def _rows(path: Path) -> dict[str, int]:
    try:
        rows = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path}: can't be read: {error}") from error
    ids = {piece: number for number, piece in enumerate(rows)}
    if missing := [piece for piece in (CLS, SEP, PAD, UNKNOWN) if piece not in ids]:
        raise EvaluationError(f"{path}: lacks {', '.join(missing)}: it isn't the vocabulary of an uncased BERT")
    return ids
