"""Split running text into words like the Natural Questions data.

The rules are those of the revised Penn Treebank conventions (hyphenated words are split except
after a closed list of prefixes), inferred from published tokens; the original tokenizer was never
released. This module decides only the *boundaries* and the printed form of words, not byte offsets.
"""

import re
from typing import NamedTuple


class Words(NamedTuple):
    """The words of a text in columns: characters ``starts[i]`` to ``ends[i]`` (exclusive), printed as ``texts[i]``."""

    texts: list[str]
    starts: list[int]
    ends: list[int]

    def add(self, start: int, end: int, text: str) -> None:
        """Append one word."""
        self.texts.append(text)
        self.starts.append(start)
        self.ends.append(end)


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
# Groups are repeated greedily: Python 3.11.2, which Debian 12 has, ends a possessive one at the wrong place. Nothing stands
# behind them that could fail, so that there is nothing to go back for.
# Combining marks belong to the letter before them; \w alone would cut Indic and Thai words.
_L = rf"(?:[^\W_{_UNSPACED}]++|[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u17b4-\u17d3\u200c\u200d])+"

# Most of a text: ASCII words before a blank or a comma. The other rules would read them alike, but for "cannot".
_PLAIN = r"(?!(?i:cannot))(?:[A-Za-z0-9]++(?![^ \n])|[A-Za-z]++(?=,))"
_CANDIDATE = re.compile(
    rf"""
    (?=\S)(?:
    (?P<run>{_PLAIN}(?:[ ]{_PLAIN})*)
  | (?P<quote>")
  | (?P<mark>[!%&'()*+,/:;<=>?@\[\]^`{{|}}~_])
  | (?P<url>(?:https?|ftp)://[^\s<>"]{{1,2000}})
  | (?P<dots>\.{{2,}}|…)
  | (?P<dash>-{{2,}}|[–—])
  | (?P<host>(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,6}}(?:{_TOP_LEVEL_DOMAINS})(?![\w.]))
  | (?P<initials>(?<![\w.])(?:[A-Z]\.(?:[ \n]?[A-Z]\.){{1,9}}|[A-Za-z]\.(?:[A-Za-z]\.){{1,9}}))
  | (?P<number>\$?\d{{1,40}}(?:,\d{{1,40}}){{0,20}}(?:\.\d{{1,40}})?(?!\w)|\$\d{{1,40}}(?!\w))
  | (?P<unspaced>[{_UNSPACED}]++)
  | (?P<word>{_L}(?:[&'’]{_L})*)
  | (?P<other>\S))
    """,
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(?i)(?:n['’]t|['’](?:s|re|ve|ll|d|m))$")
_LETTERS = re.compile(_L)
_NOTHING_MORE = re.compile(r"\s{0,99}\Z")
_SENTENCE_ENDS_TEXT = re.compile(r"""[\s"'’”)\]]{0,99}\Z""")
_SENTENCE_GOES_ON = re.compile(r"""[\s"'’”)\]»]{0,99}[a-z,;:]""")
_PRINTED = {
    "[": "(",
    "]": ")",
    "{": "(",
    "}": ")",
    "–": "--",
    "—": "--",
    "…": "...",
    "..": "...",
    "“": "``",
    "”": "''",
    "„": "``",
    "«": "``",
    "»": "''",
    "‘": "`",
    "’": "'",
    "″": "''",
}
_OPENS_AFTER = re.compile(r"[\s(\[{<–—/‘“-]")


def words(text: str) -> Words:
    """Return the words of one block of text, in order and without overlap.

    Parameters
    ----------
    text: the decoded characters of one block (a paragraph, a cell, a heading).

    Notes
    -----
    No word is empty and none holds white space, whatever ``text`` holds.
    """
    found = Words([], [], [])
    position: int | None = 0
    open_quote = False
    while position is not None:
        position, open_quote = _scan(text, position, found, open_quote=open_quote)
    return found


def _scan(text: str, position: int, found: Words, *, open_quote: bool) -> tuple[int | None, bool]:
    """Add words from a position on; return the next position (None at the end), and whether a quote is open.

    A scan ends early if a word ends at another position than the expression that found it.
    """
    for match in _CANDIDATE.finditer(text, position):
        kind, (start, end) = str(match.lastgroup), match.span()
        if (rule := _RULES.get(kind)) is not None:
            after = rule(found, text, start, end)
            if after != end:
                return after, open_quote
        elif kind == "quote":
            open_quote = not open_quote and (start == 0 or bool(_OPENS_AFTER.match(text[start - 1])))
            found.add(start, end, "``" if open_quote else "''")
        else:
            piece = match.group()
            found.add(start, end, _PRINTED.get(piece, "..." if kind == "dots" else piece))
    return None, open_quote


def _add_run(found: Words, text: str, start: int, end: int) -> int:
    """Add words with single blanks between them."""
    for word in text[start:end].split(" "):
        found.texts.append(word)
        found.starts.append(start)
        start += len(word)
        found.ends.append(start)
        start += 1
    return end


def _add_unspaced(found: Words, text: str, start: int, end: int) -> int:
    for place in range(start, end):
        found.add(place, place + 1, text[place])
    return end


def _add_url(found: Words, text: str, start: int, end: int) -> int:
    url = _trimmed_url(text[start:end])
    found.add(start, start + len(url), url)
    return start + len(url)


def _trimmed_url(url: str) -> str:
    """Return the address without the punctuation of the sentence around it."""
    trimmed = url.rstrip(".,;:!?'\"”’»")
    while trimmed.endswith((")", "]")) and trimmed.count("(") < trimmed.count(")"):
        trimmed = trimmed[:-1]
    return trimmed or url


def _add_initials(found: Words, text: str, start: int, end: int) -> int:
    """Add a run of initials; at the end of a sentence, the last period isn't part of it."""
    if end - start > 2 and _NOTHING_MORE.match(text, end):
        end -= 1
    found.add(start, end, re.sub(r"\s", "", text[start:end]))
    return end


def _add_pieces(found: Words, text: str, start: int, end: int) -> int:
    """Add the words in one alphanumeric run, and return the position after them."""
    if text[end : end + 1] == "-":
        end = _joined_by_affix(text, start, end)
    run = text[start:end]
    if text[end : end + 1] == "." and _keeps_period(text, run, end):
        found.add(start, end + 1, run + ".")
        return end + 1
    contraction = _CONTRACTION.search(run) if "'" in run or "’" in run else None
    if run.lower() == "cannot":
        cut = start + 3
    elif contraction and contraction.start() > 0:
        cut = start + contraction.start()
    else:
        found.add(start, end, run.replace("’", "'"))
        return end
    found.add(start, cut, text[start:cut])
    found.add(cut, end, text[cut:end].replace("’", "'"))
    return end


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


# How a kind of run becomes words: each rule adds them, and returns where it really ends.
_RULES = {
    "run": _add_run,
    "unspaced": _add_unspaced,
    "url": _add_url,
    "initials": _add_initials,
    "word": _add_pieces,
    "number": _add_pieces,
}
