"""The four relevance labels and the flowchart that leads to them (ANTIQUE, section 3.1, "Label Definitions")."""

from collections.abc import Mapping
from typing import Any

from annotation.tasktypes.base import Answer, AnswerError, Draft

LABELS = (4, 3, 2, 1)
STAGE = "relevance"
# The answers on the way down the flowchart (y or n), and the label each way ends at.
WAYS = {"n": 1, "yn": 2, "yyn": 3, "yyy": 4}


def label_sent(draft: Draft, sent: Mapping[str, Any]) -> Draft:
    """Add a label to the draft; it was chosen directly or by following the flowchart."""
    way = str(sent.get("way", ""))
    label = _label(sent.get("label") or WAYS.get(way))
    if way and WAYS.get(way) != label:
        raise AnswerError("relevance_way", "way")
    return {**draft, "done": [STAGE], STAGE: {"label": label, "way": way}}


def _label(value: Any) -> int:
    text = str(value)
    if text not in {str(label) for label in LABELS}:
        raise AnswerError("relevance_label", "label")
    return int(text)


def finished_answer(draft: Draft) -> Answer:
    """Return the answer of a finished draft."""
    if not draft.get("done") or STAGE not in draft:
        raise AnswerError("relevance_unanswered", "label")
    kept = draft[STAGE]
    return {"label": _label(kept["label"]), "way": kept["way"]}
