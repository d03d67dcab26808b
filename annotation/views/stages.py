"""What each task type shows: the page of each stage, and of an example."""

from collections.abc import Callable
from typing import Any

from annotation.models import Assignment
from annotation.views.antique_stage import relevance_context
from annotation.views.antique_stage import stage_page as antique_stage_page
from annotation.views.nq_stages import stage_page as nq_stage_page

STAGE_PAGES: dict[str, Callable[[Assignment], tuple[str, dict[str, Any]]]] = {
    "nq": nq_stage_page,
    "antique": antique_stage_page,
}
EXAMPLE_PAGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"antique": relevance_context}
