"""What a page is told once a draft is kept."""

from typing import Any

from annotation.models import Assignment
from annotation.services.shown import remarks_of
from annotation.tasktypes.registry import pages_of


def draft_told(assignment: Assignment) -> dict[str, Any]:
    """Return the version of a draft, and what there is to say of a text in it, in the person's language."""
    texts = pages_of(assignment.campaign.task_type).remark_texts
    remarks = [{"text": str(texts[one.key]), "refuses": one.refuses} for one in remarks_of(assignment)]
    return {"version": assignment.draft_version, "remarks": remarks}
