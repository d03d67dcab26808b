"""The numbers that managers' pages show of the work done."""

import pytest
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, AnnotationState
from tests import factories

pytestmark = pytest.mark.django_db


def test_numbers_of_work_by_person_stage_and_day():
    campaign = factories.antique(items=3, n=2)
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    for seconds, label in ((4, 1), (6, 1), (20, 3)):
        done = factories.vote(campaign, first, label)
        Annotation.objects.filter(pk=done.pk).update(seconds=seconds, stage_seconds={"relevance": seconds})
    late = factories.vote(campaign, second, 4)
    Annotation.objects.filter(pk=late.pk).update(state=AnnotationState.LATE, slot=None)
    found = numbers_refresh(campaign=campaign, now=timezone.now())
    people = {row.pop("surrogate"): row for row in found["people"]}
    assert people == {
        str(first.surrogate_id): {
            "counted": 3,
            "late": 0,
            "median_seconds": 6.0,
            "paths": {"label_1": 2, "label_3": 1},
        },
        str(second.surrogate_id): {"counted": 0, "late": 1, "median_seconds": None, "paths": {}},
    }
    assert (found["annotations"], found["paths"]) == (3, {"label_1": 2, "label_3": 1})
    assert found["stage_median_seconds"] == {"relevance": 6.0}
    assert [count for _day, count in found["days"]] == [3]
