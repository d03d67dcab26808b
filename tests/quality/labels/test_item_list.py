"""What the list of items says of the answers: labels, and how many annotators gave the same answer."""

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Split
from tests import factories

pytestmark = pytest.mark.django_db


def cells(client, campaign):
    """Return the texts of the first row by column, with the titles as shown."""
    page = client.get(reverse("items", args=[campaign.slug]))
    assert page.status_code == 200
    [(_key, row)] = page.context["table"].rows
    return {column.key: cell.shown for column, cell in row}


@pytest.fixture
def campaign(client):
    """Return a campaign with one item and three votes, two of them alike, and log in a manager."""
    made = factories.antique(items=1, n=3)
    factories.launch(made)
    for label in (4, 2, 4):
        factories.vote(made, factories.annotator(made), label)
    manager = factories.user()
    factories.join(made, manager, Role.MANAGER)
    client.force_login(manager)
    return made


def test_a_label_stands_beside_how_many_said_it(client, campaign):
    factories.examine(campaign)
    shown = cells(client, campaign)
    assert (shown["label"], shown["agreement"], shown["annotations"]) == (4, "2 of 3", "3 of 3")


def test_a_sealed_split_says_nothing_of_its_answers(client, campaign):
    factories.examine(campaign)
    Split.objects.filter(campaign=campaign).update(sealed_at=timezone.now())
    shown = cells(client, campaign)
    assert (shown["label"], shown["agreement"], shown["annotations"]) == ("", "", "3 of 3")


def test_a_researcher_sees_no_answers(client, campaign):
    researcher = factories.user()
    factories.join(campaign, researcher, Role.RESEARCHER)
    client.force_login(researcher)
    assert not {"label", "agreement"} & cells(client, campaign).keys()
