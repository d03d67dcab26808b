"""Pairs without a possibly correct answer, as in collections where nobody chose one."""

import pytest
from django.urls import reverse

from quality.experts.views import cases
from quality.models import Case
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("known", ["", "Use eggs that are a week old."])
def test_labels_and_flowchart_compare_only_with_an_answer_that_is_there(client, known):
    campaign = factories.antique(items=0, n=1)
    [row] = factories.pairs(1)
    row |= {"possibly_correct_id": "x_0" if known else "", "possibly_correct_answer": known}
    factories.import_rows(campaign, [row])
    factories.launch(campaign)
    person = factories.annotator(campaign)
    factories.claim(campaign, person)
    client.force_login(person)
    page = client.get(reverse("work", args=[campaign.slug])).content.decode()
    desk = page[page.index('class="stage relevance"') :]
    assert "convincing" in desk
    assert ("possibly correct answer" in desk.lower()) == bool(known)
    shown = cases._shown(campaign, Case(item=campaign.items.get(), parts=[]))
    assert ("possibly correct answer" in str([str(grade[3]) for grade in shown["grades"]]).lower()) == bool(known)
