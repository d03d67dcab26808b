"""Words of a query with a tagger's tags, and English words of the closed classes."""

from typing import NamedTuple


class Word(NamedTuple):
    """One word of a query, with its tags.

    ``pos`` is a universal part of speech (https://universaldependencies.org/u/pos/), or ``X`` if the tagger can't tell.
    ``entity`` and ``phrase`` number the entity (a name, not an amount or a time) and the noun phrase of a word;
    ``is_head`` marks the head of a noun phrase, ``ends_relative`` the last word of a relative clause.
    """

    text: str  # in lower case
    lemma: str
    pos: str
    entity: int | None = None
    phrase: int | None = None
    is_head: bool = False
    ends_relative: bool = False


FINITE_DO = frozenset("do does did".split())
FINITE_BE = frozenset("is are was were am 's".split())
FINITE_HAVE = frozenset("has have had".split())
MODALS = frozenset("can could will would shall should may might must".split())
AUXILIARIES = FINITE_DO | FINITE_BE | FINITE_HAVE | MODALS | frozenset("be been being".split())
PREPOSITIONS = frozenset(
    "about above across after against along among around as at before behind below beneath beside between beyond by despite "
    "during except for from in inside into like near of off on onto out outside over past per since than through "
    "throughout to toward towards under until up upon via with within without".split()
)
DETERMINERS = frozenset(
    "a an the this that these those each every some any no all both another what which whose my your his her its our "
    "their".split()
)
RELATIVES = frozenset("who whom that which whose where".split())
PRONOUNS = frozenset("i you he she it we they me him us them there who whom what".split())
QUESTION_WORDS = frozenset("who whom whose what which when where why how".split())
CONJUNCTIONS = frozenset("and or but nor if because while when than".split())
ADVERBS = frozenset(
    "how why not never always often ever also only still just again now then here there far very most more less least "
    "first last too so".split()
)

# States of the United States, and countries that queries put after a place: "cleveland ohio", "paris france".
REGIONS = frozenset(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana "
    "iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska "
    "nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming "
    "argentina australia austria belgium brazil canada chile china colombia cuba denmark egypt england finland france "
    "germany greece hungary iceland india indonesia iran iraq ireland israel italy jamaica japan kenya malaysia mexico "
    "morocco netherlands nigeria norway pakistan peru philippines poland portugal russia scotland singapore spain sweden "
    "switzerland thailand turkey uk ukraine usa vietnam wales".split()
)
