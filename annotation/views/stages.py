"""What each task type shows at each stage: a template and what it needs."""

from collections.abc import Callable
from typing import Any

from annotation.models import Assignment
from annotation.views.nq_stages import stage_page as nq_stage_page

STAGE_PAGES: dict[str, Callable[[Assignment], tuple[str, dict[str, Any]]]] = {"nq": nq_stage_page}
