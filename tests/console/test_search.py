"""The search of a campaign finds what a person may open, and nothing else."""

import pytest
from django.urls import reverse

from accounts.models import ExternalIdentity, Role
from annotation.models import Participation
from console.search import MOST
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return factories.antique(items=3, n=2)


def searched(client, campaign, text, role=Role.MANAGER):
    person = factories.user()
    factories.join(campaign, person, role)
    client.force_login(person)
    return client.get(reverse("campaign-search", args=[campaign.slug]), {"q": text})


def labels(hits):
    return [hit.label for hit in hits]


def test_a_page_is_found_by_a_part_of_its_name(client, campaign):
    found = searched(client, campaign, "gold q").context["found"]
    assert [(hit.label, hit.place) for hit in found.pages] == [("Gold questions", "Quality")]
    assert found.pages[0].address == reverse("quality-gold", args=[campaign.slug])


def test_a_setting_leads_to_its_field(client, campaign):
    [hit] = searched(client, campaign, "time zone").context["found"].settings
    address, _, field = hit.address.partition("#")
    assert f'id="{field}"' in client.get(address).content.decode()


def test_items_are_found_by_the_beginning_of_their_id(client, campaign):
    ids = sorted(campaign.items.values_list("external_id", flat=True))
    page = searched(client, campaign, ids[0])
    assert ids[0] in labels(page.context["found"].items)
    common = ids[0][:1]
    expected = [one for one in ids if one.startswith(common)][:MOST]
    assert labels(searched(client, campaign, common).context["found"].items) == expected
    assert labels(searched(client, campaign, ids[0][1:] + "none").context["found"].items) == []


def test_annotators_are_found_by_name_address_and_id_elsewhere(client, campaign):
    annotator = factories.annotator(campaign)
    factories.vote(campaign, annotator, 3)
    worker = ExternalIdentity.objects.create(source="panel", name="W-77", surrogate=factories.user().surrogate)
    Participation.objects.create(campaign=campaign, surrogate=worker.surrogate)
    for text, surrogate in (
        (annotator.name[1:].upper(), annotator.surrogate_id),
        (annotator.email, annotator.surrogate_id),
        ("w-77", worker.surrogate_id),
    ):
        people = searched(client, campaign, text).context["found"].people
        assert reverse("quality-person", args=[campaign.slug, surrogate]) in [hit.address for hit in people], text


def test_people_of_other_campaigns_are_not_found(client, campaign):
    stranger = factories.annotator(factories.antique(items=1, n=1))
    assert labels(searched(client, campaign, stranger.name).context["found"].people) == []


def test_a_researcher_finds_pages_of_theirs_alone(client, campaign):
    factories.vote(campaign, factories.annotator(campaign), 3)
    page = searched(client, campaign, "e", Role.RESEARCHER)
    found = page.context["found"]
    assert "Releases" in labels(found.pages) and "Guidelines" not in labels(found.pages)
    assert (found.settings, found.items, found.people) == ([], [], [])


@pytest.mark.parametrize("text", ["", "  ", "%", "_", "nothing is called so", "x" * 5000])
def test_what_finds_nothing_says_so(client, campaign, text):
    page = searched(client, campaign, text)
    assert page.status_code == 200
    assert "No results." in page.content.decode()


def test_every_page_of_a_campaign_has_the_search(client, campaign):
    page = searched(client, campaign, "x").content.decode()
    assert page.count("data-search-field") == 2  # beside the sections, and in the menu of phones
