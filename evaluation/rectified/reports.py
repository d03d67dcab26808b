"""What is reported of judged systems: their scores, and their paired differences."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evaluation.statistics import holm

if TYPE_CHECKING:
    from measures.rectified import Board

LEVEL = 0.05


def board_report(board: "Board") -> dict[str, Any]:
    """Return the scores of judged systems (the best first), their differences, and the number of pairs told apart."""
    rows = [{"system": system, **asdict(board.rectified(system))} for system in board.judgments]
    pairs = board.differences()
    corrected = holm({(one.first, one.second): one.p for one in pairs})
    compared = [{**asdict(one), "p_holm": corrected[one.first, one.second]} for one in pairs]
    return {
        "systems": sorted(rows, key=lambda row: -row["score"]["value"]),
        "pairs": compared,
        "told_apart": sum(row["p_holm"] < LEVEL for row in compared),
    }
