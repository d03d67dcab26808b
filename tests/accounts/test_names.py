"""What people are called: they give a name when they sign up, can change it, and have one name on every page."""

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.identities import external_surrogate
from accounts.models import NAME_LENGTH, Role, User
from quality.people.selectors.names import names_of
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.mark.parametrize("verification", ["none", "mandatory"])
def test_a_name_is_given_when_signing_up(settings, verification):
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = verification == "mandatory"
    campaign, manager, client = factories.campaign(), factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    people = reverse("campaign-people", args=[campaign.slug])
    page = client.post(people, {"what": "link", "role": "annotator", "uses": 5, "days": 5, "note": ""}).content.decode()
    stranger = Client()
    stranger.get(re.search(r"/invite/[\w-]+/", page).group())
    form = {"email": "new@example.org", "name": " Ada B. ", "password1": PASSWORD, "password2": PASSWORD}
    assert stranger.post(reverse("account_signup"), form).status_code == 302
    assert str(User.objects.latest("pk")) == "Ada B."


def test_a_name_can_be_changed_and_taken_away(client):
    person = factories.user()
    client.force_login(person)
    for given, kept in {"Ada": "Ada", "": person.email, " Zoë \n K. ": "Zoë K.", "x" * 999: "x" * NAME_LENGTH}.items():
        assert client.post(reverse("privacy"), {"name": given}).status_code == 302
        person.refresh_from_db()
        assert str(person) == kept
    assert User.objects.filter(pk=person.pk).exists()  # that form erases nothing


def test_everybody_has_one_name():
    member = factories.user("Ada")
    worker, gone = external_surrogate(source="a panel", name="P-17"), uuid4()
    named = names_of([member.surrogate_id, worker, gone, None, gone])
    assert named == {member.surrogate_id: str(member), worker: "P-17", gone: f"Person {gone.hex[:8]}"}
