"""The label probabilities that follow from the votes of a campaign."""

from typing import Any

import orjson
from django.db.models import F, Q

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign
from annotation.tasktypes.registry import voted
from measures.judgments import Judgments, Repeats, judgments_of
from quality.labels.selectors.answers import answers_as_text

# More annotations of an item than make a verdict are no votes.
VOTES = Q(slot__round=1, slot__index__lt=F("item__votes")) | Q(slot__round=2)


def votes_in(campaign: Campaign) -> Judgments:
    """Return every counted vote on ordinary items. Reads every annotation, so use it only in jobs."""
    task_type = voted(campaign.task_type)
    rows = Annotation.objects.filter(
        VOTES, unsealed(), campaign=campaign, state=AnnotationState.COUNTED, item__batch__purpose__in=ORDINARY
    )
    labels: dict[str, Any] = {}  # of answers, which are few texts
    votes = []
    for item, who, text, _state in answers_as_text(rows, "state"):
        if text not in labels:
            labels[text] = task_type.vote_key(orjson.loads(text))
        votes.append((item, who, labels[text]))
    return judgments_of(votes, labels=task_type.labels, repeats=Repeats.LAST)
