"""The scores of a campaign's systems, from people's judgments of a random sample of their answers."""

from typing import Any

import numpy as np

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import Campaign, Item, ItemState
from annotation.tasktypes.base import Judging
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.models import JudgedSystem, SystemSample
from evaluation.rectified.reports import board_report
from measures.rectified import LEAST, Board
from quality.models import Verdict

MOST_PAIRS = 50  # that pages show


def scores_of(campaign: Campaign) -> dict[str, Any]:
    """Return the report on the systems of a campaign whose answers were all judged, and the progress of the others.

    Questions with an answer that was retired before it had a label are left out for all systems: they are judged on the
    same sample. Later retirements change nothing, because they could be chosen by the result. Reads every label, so use it
    only in jobs.
    """
    sample = SystemSample.objects.filter(campaign=campaign).first()
    if sample is None:
        return {}
    systems = list(JudgedSystem.objects.filter(campaign=campaign).order_by("name"))
    values = _values(campaign)
    items = Item.objects.filter(campaign=campaign, state=ItemState.RETIRED)
    retired = set(items.values_list("external_id", flat=True)) - set(values)
    used = [number for number in range(len(sample.judged)) if not any(one.items[number] in retired for one in systems)]
    said = {one.name: _judgments(one, used, values) for one in systems}
    complete = [one for one in systems if None not in said[one.name]]
    found: dict[str, Any] = {"questions": len(sample.questions), "judged": len(used), "drawn": len(sample.judged)}
    found |= {"systems": [], "pairs": [], "has_enough": len(used) >= LEAST}
    if complete and len(used) >= LEAST:
        board = Board(
            {one.name: np.array(one.scores) for one in complete},
            np.array([sample.judged[number] for number in used], dtype=np.int64),
            {one.name: np.array(said[one.name], dtype=float) for one in complete},
            np.zeros(len(sample.questions), dtype=np.int64),
        )
        found |= board_report(board)
        found["pair_count"] = len(found["pairs"])
        found["pairs"] = sorted(found["pairs"], key=lambda row: row["p_holm"])[:MOST_PAIRS]
    late = {one.name for one in systems if not one.is_first}
    for row in found["systems"]:
        row |= {"is_late": row["system"] in late, "is_used": any(row["weights"])}
    found["has_late"] = any(row["is_late"] for row in found["systems"])
    found["has_unused"] = not all(row["is_used"] for row in found["systems"])
    return found | {
        "waiting": [
            {
                "system": one.name,
                "judged": sum(value is not None for value in said[one.name]),
                "of": len(used),
                "automatic": float(np.mean(one.scores)),
            }
            for one in systems
            if one not in complete or not found["systems"]
        ]
    }


def _values(campaign: Campaign) -> dict[str, float]:
    """Return the value of each judged answer, by the id of its item."""
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Judging):
        return {}
    verdicts = Verdict.objects.filter(unsealed(), campaign=campaign, superseded_at=None)
    labels = verdicts.values_list("item__external_id", "label")
    return {item: task_type.judgment(label) for item, label in labels.iterator(chunk_size=5_000)}


def _judgments(system: JudgedSystem, used: list[int], values: dict[str, float]) -> list[float | None]:
    """Return the judgment of each of the system's answers; None where it is missing, and 0 where there is no answer."""
    return [values.get(system.items[number]) if system.items[number] else 0.0 for number in used]
