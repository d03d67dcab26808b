"""The context of an answer for task types (`Shown`)."""

from collections.abc import Mapping, Sequence

from django.db.models import Q

from annotation.models import FILLING, Annotation, AnnotationState, Assignment, Campaign
from annotation.tasktypes.base import Remark, Shown, Written, options_from
from annotation.tasktypes.registry import TASK_TYPES
from documents.selectors import tokenization_of

# A text that was refused was written all the same.
_WRITTEN = (*FILLING, AnnotationState.EXCLUDED)


def options_of(campaign: Campaign) -> Mapping[str, bool]:
    """Return the options that a campaign chose for its task type."""
    task_type = TASK_TYPES[campaign.task_type]
    return options_from(task_type.options, campaign.options) if isinstance(task_type, Written) else {}


def remarks_of(assignment: Assignment) -> Sequence[Remark]:
    """Return the remarks about the text in an annotator's draft."""
    task_type = TASK_TYPES[assignment.campaign.task_type]
    return task_type.remarks(assignment.draft, shown_of(assignment)) if isinstance(task_type, Written) else []


def shown_of(assignment: Assignment, *, with_page: bool = True) -> Shown:
    """Return the context of an assignment's answer; without the page at stages where it must stay unknown."""
    item, campaign = assignment.item, assignment.campaign

    def is_written(key: str) -> bool:
        others = Annotation.objects.filter(campaign_id=campaign.pk, text_key=key, state__in=_WRITTEN)
        own = Q(surrogate_id=assignment.surrogate_id, item_id=item.pk) | Q(pk=item.follows_id)
        return others.exclude(own).exists()

    page = tokenization_of(item.tokenization) if with_page else None
    return Shown(item.content, page, options_of(campaign), is_written)
