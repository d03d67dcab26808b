"""Cut running text into words the way the Natural Questions data does.

The rules are those of the revised Penn Treebank conventions (hyphenated words are split except
after a closed list of prefixes), read off published tokens; the original tokenizer was never
released. Only the *boundaries* and the printed form are decided here, byte offsets are not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Word(NamedTuple):
    """One word: characters ``start`` (inclusive) to ``end`` (exclusive) and its printed form."""

    start: int
    end: int
    text: str


# Prefixes that stay attached to what follows the hyphen, and suffixes that stay attached to what
# precedes it (LDC, "Addendum to the Penn Treebank II style bracketing guidelines", hyphenation).
_PREFIXES = frozenset(
    "a agro ante anti arch be bi bio co counter cross cyber de e eco ex extra i inter intra macro mega micro mid "
    "mini multi neo non o over pan para peri post pre pro pseudo quasi re semi sub super t tri u ultra un uni v vice x".split()
)
_SUFFIXES = frozenset("esque ette fest fold gate itis less most rama wise o-torium".split())

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof rev hon sr jr st gen col capt lt sgt gov sen rep pres mt ft "
    "inc ltd corp bros assn dept univ vs viz etc approx ca cf eds est fig no nos op "
    "p pp pt vol vols trans rev jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_TOP_LEVEL_DOMAINS = "com|org|net|edu|gov|mil|int|info|biz|[a-z]{2}"
# Scripts written without spaces: each character is a word of its own, so that any span of them can be marked.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# Combining marks belong to the letter before them; \w alone would cut Indic and Thai words.
_LETTER = rf"[^\W_{_UNSPACED}]|[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u17b4-\u17d3\u200c\u200d]"
_L = rf"(?:{_LETTER})"

_CANDIDATE = re.compile(
    rf"""
    (?P<url>(?:https?|ftp)://[^\s<>"]{{1,2000}})
  | (?P<dots>\.{{2,}}|…)
  | (?P<dash>-{{2,}}|[–—])
  | (?P<host>(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,6}}(?:{_TOP_LEVEL_DOMAINS})(?![\w.]))
  | (?P<initials>(?<![\w.])(?:[A-Z]\.(?:[ \n]?[A-Z]\.){{1,9}}|[A-Za-z]\.(?:[A-Za-z]\.){{1,9}}))
  | (?P<number>\$?\d{{1,40}}(?:,\d{{1,40}}){{0,20}}(?:\.\d{{1,40}})?(?!\w)|\$\d{{1,40}}(?!\w))
  | (?P<han>[{_UNSPACED}])
  | (?P<word>{_L}+(?:[&'’]{_L}+)*)
  | (?P<other>\S)
    """,
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(?i)(?:n['’]t|['’](?:s|re|ve|ll|d|m))$")
_LETTERS = re.compile(rf"{_L}+")
_NOTHING_MORE = re.compile(r"\s{0,99}\Z")
_SENTENCE_ENDS_TEXT = re.compile(r"""[\s"'’”)\]]{0,99}\Z""")
_SENTENCE_GOES_ON = re.compile(r"""[\s"'’”)\]»]{0,99}[a-z,;:]""")
_PRINTED = {
    "[": "(", "]": ")", "{": "(", "}": ")", "–": "--", "—": "--", "…": "...", "..": "...",
    "“": "``", "”": "''", "„": "``", "«": "``", "»": "''", "‘": "`", "’": "'", "″": "''",
}  # fmt: skip
_OPENS_AFTER = re.compile(r"[\s(\[{<–—/‘“-]")


def words(text: str) -> Iterator[Word]:
    """Yield the words of one block of text, in order and without overlap.

    Parameters
    ----------
    text: the decoded characters of one block (a paragraph, a cell, a heading).

    Notes
    -----
    No word is empty and none holds white space, whatever ``text`` holds.
    """
    position = 0
    open_quote = False
    while match := _CANDIDATE.search(text, position):
        kind, start, end = match.lastgroup, match.start(), match.end()
        position = end
        if kind == "url":
            position = end = start + len(_trimmed_url(match.group()))
            yield Word(start, end, text[start:end])
        elif kind == "initials":
            end = _initials_end(text, start, end)
            position = end
            yield Word(start, end, re.sub(r"\s", "", text[start:end]))
        elif kind in {"word", "number"}:
            pieces, position = _word_pieces(text, start, end)
            yield from pieces
        elif match.group() == '"':
            opening = not open_quote and (start == 0 or bool(_OPENS_AFTER.match(text[start - 1])))
            open_quote = opening
            yield Word(start, end, "``" if opening else "''")
        else:
            yield Word(start, end, _PRINTED.get(match.group(), "..." if kind == "dots" else match.group()))


def _trimmed_url(url: str) -> str:
    """Return the address without the punctuation of the sentence around it."""
    trimmed = url.rstrip(".,;:!?'\"”’»")
    while trimmed.endswith((")", "]")) and trimmed.count("(") < trimmed.count(")"):
        trimmed = trimmed[:-1]
    return trimmed or url


def _initials_end(text: str, start: int, end: int) -> int:
    """Return where a run of initials ends: its last period belongs to the sentence when that ends here."""
    if end - start > 2 and _NOTHING_MORE.match(text, end):
        return end - 1
    return end


def _word_pieces(text: str, start: int, end: int) -> tuple[list[Word], int]:
    """Return the words that one alphanumeric run gives, and where scanning goes on."""
    end = _joined_by_affix(text, start, end)
    run = text[start:end]
    if text[end : end + 1] == "." and _keeps_period(text, run, end):
        return [Word(start, end + 1, run + ".")], end + 1
    if run.lower() == "cannot":
        return [Word(start, start + 3, run[:3]), Word(start + 3, end, run[3:])], end
    contraction = _CONTRACTION.search(run)
    if contraction and contraction.start() > 0:
        cut = start + contraction.start()
        head, tail = text[start:cut], text[cut:end].replace("’", "'")
        return [Word(start, cut, head), Word(cut, end, tail)], end
    return [Word(start, end, run.replace("’", "'"))], end


def _joined_by_affix(text: str, start: int, end: int) -> int:
    """Extend a run over hyphens that the treebank conventions keep inside a word."""
    while text[end : end + 1] == "-":
        following = _LETTERS.match(text, end + 1)
        if following is None:
            return end
        last = text[max(start, text.rfind("-", start, end) + 1) : end].lower()
        if last not in _PREFIXES and following.group().lower() not in _SUFFIXES:
            return end
        end = following.end()
    return end


def _keeps_period(text: str, run: str, end: int) -> bool:
    """Return whether the period after ``run`` belongs to it (abbreviation, initial, or mid-sentence)."""
    after = text[end + 1 : end + 2]
    if after and (after.isalnum() or after == "."):
        return after != "."
    if _SENTENCE_ENDS_TEXT.match(text, end + 1):
        return False
    if run.lower() in _ABBREVIATIONS or (len(run) == 1 and run.isalpha()):
        return True
    return not after.isspace() and bool(_SENTENCE_GOES_ON.match(text, end + 1))
