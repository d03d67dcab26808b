"""Which annotations are read: the stated share of each annotator, by chance which ones."""

from collections import Counter

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore
from quality.models import Inspection, InspectionTally
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db


def drawn(campaign):
    rows = Inspection.objects.filter(campaign=campaign, because="sample")
    return Counter(rows.values_list("annotation__surrogate", flat=True))


def test_each_annotator_has_the_stated_share_read_to_within_one():
    campaign = factories.antique(items=25, n=4, policy=Policy(inspection_rate=0.2, gold_first=0))
    people = {}
    for count in (1, 4, 13, 25):
        person = factories.annotator(campaign)
        people[person.surrogate_id] = count
        for _ in range(count):
            factories.vote(campaign, person, 4)
            factories.examine(campaign)
    found = drawn(campaign)
    for surrogate_id, count in people.items():
        assert abs(found[surrogate_id] - 0.2 * count) < 1, (count, found[surrogate_id])
    assert found[max(people, key=people.get)] == 5
    starts = {row.carry for row in InspectionTally.objects.all()}
    assert len(starts) == 4  # each begins at another place


def test_what_counts_again_is_not_drawn_from_twice():
    campaign = factories.antique(items=10, n=1, policy=Policy(inspection_rate=0.5, gold_first=0))
    person, boss = factories.annotator(campaign), factories.user()
    for _ in range(4):
        factories.vote(campaign, person, 4)
    factories.examine(campaign)
    before = InspectionTally.objects.get().carry
    row = Annotation.objects.first()
    annotation_exclude(annotation=row, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    row.refresh_from_db()
    annotation_restore(annotation=row, actor_id=boss.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert InspectionTally.objects.get().carry == before
    assert drawn(campaign).total() == 2
