"""Reading automatic scores of systems, and people's judgments of a part of their answers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.files import EvaluationError
from evaluation.rectified.uploads import MOST_SCORE
from measures.judgments import Floats, Places
from storage.tables.frames import TableFault, read_frame
from storage.tables.values import number_of

MOST_ROWS = 5_000_000
SHOWN = 5  # names in a message


@dataclass(frozen=True)
class Systems:
    """The scores and judgments of the answers of some systems.

    ``scores``: by system, the automatic score of each item; ``judgments``: by system, people's judgments of the items in
    ``judged`` (places among the items); ``strata``: the names of the strata.
    """

    items: tuple[str, ...]
    scores: dict[str, Floats]
    judged: Places
    judgments: dict[str, Floats]
    stratum: Places
    strata: tuple[str, ...]


def read_systems(scores: Path, judged: Path) -> Systems:
    """Read a table of ``item,system,score[,stratum]`` and one of ``item,system,judgment``.

    Raises
    ------
    EvaluationError
        A cell isn't a number, a judgment isn't between 0 and 1, a row is missing or occurs twice, or the systems were
        judged on different items.
    """
    given, strata_of = _values(scores, "score", "stratum")
    items = tuple(dict.fromkeys(item for by_item in given.values() for item in by_item))
    for system, by_item in given.items():
        _refuse(scores, f"system {system!r} has no score of", [item for item in items if item not in by_item])
    said, _none = _values(judged, "judgment")
    for system, by_item in said.items():
        if system not in given:
            raise EvaluationError(f"{judged}: system {system!r} has no scores in {scores}")
        _refuse(
            judged, f"judged for {system!r}, but without scores:", [one for one in by_item if one not in given[system]]
        )
    if not said:
        raise EvaluationError(f"{judged}: no judgments")
    sample = next(iter(said.values()))
    for system, by_item in said.items():
        other = sorted(set(sample) ^ set(by_item))
        _refuse(
            judged, f"all systems are judged on the same items; {system!r} and {next(iter(said))!r} differ in", other
        )
    for system, by_item in said.items():
        beyond = [item for item, value in by_item.items() if not 0 <= value <= 1]
        _refuse(judged, f"a judgment of {system!r} isn't between 0 and 1:", beyond)
    places = {item: place for place, item in enumerate(items)}
    names = tuple(dict.fromkeys(strata_of.get(item, "") for item in items))
    return Systems(
        items,
        {system: np.array([by_item[item] for item in items]) for system, by_item in given.items()},
        np.array([places[item] for item in sample], dtype=np.int64),
        {system: np.array([by_item[item] for item in sample]) for system, by_item in said.items()},
        np.array([names.index(strata_of.get(item, "")) for item in items], dtype=np.int64),
        names,
    )


def _values(path: Path, column: str, optional: str = "") -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Return a column by system and item, and another column's text by item."""
    try:
        table, _reading = read_frame(path)
    except TableFault as fault:
        raise EvaluationError(str(fault)) from fault
    wanted = ["item", "system", column]
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise EvaluationError(f"{path}, line 1: no column {missing[0]}; there are {', '.join(map(str, table.columns))}")
    if len(table) > MOST_ROWS:
        raise EvaluationError(f"{path}: has more than {MOST_ROWS:,} rows")
    found, texts = dict[str, dict[str, float]](), dict[str, str]()
    has_optional = optional in table.columns
    for line, item, system, value, *text in table[[*wanted, *([optional] if has_optional else [])]].itertuples(
        name=None
    ):
        number = number_of(value)
        _refuse_row(path, line, item, system, column, value, number)
        own = found.setdefault(system, {})
        if item in own:
            raise EvaluationError(f"{path}, line {line}: {item!r} of {system!r} stands twice")
        own[item] = float(number or 0)
        if text and texts.setdefault(item, text[0]) != text[0]:
            raise EvaluationError(f"{path}, line {line}, column {optional}: {item!r} was in {texts[item]!r} before")
    return found, texts


def _refuse_row(path: Path, line: int, item: str, system: str, column: str, value: str, number: Any) -> None:
    for name, text in (("item", item), ("system", system)):
        if not text:
            raise EvaluationError(f"{path}, line {line}, column {name}: is empty")
    if number is None or abs(number) > MOST_SCORE:
        raise EvaluationError(
            f"{path}, line {line}, column {column}: {value!r} is not a number, or beyond {MOST_SCORE:,}"
        )


def _refuse(path: Path, what: str, items: list[str]) -> None:
    if items:
        more = f" and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
        raise EvaluationError(f"{path}: {what} {', '.join(map(repr, items[:SHOWN]))}{more}")
