"""The page and the command for tokens."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import AuditEvent
from api.models import ApiToken
from tests import factories
from tests.api.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    campaign = factories.antique(items=1, n=1, slug="pairs")
    person = factories.user("mara")
    factories.join(campaign, person, "manager")
    return person


def logged_in(person):
    client = Client()
    client.force_login(person)
    return client


def test_a_token_is_created_shown_once_used_and_revoked(manager):
    client = logged_in(manager)
    sent = {"name": "nightly", "scopes": ["read", "release"], "campaign": "pairs", "days": "30"}
    page = client.post("/tokens/", sent).content.decode()
    (secret,) = re.findall(r'value="(quorate_[^"]+)"', page)
    again = client.get("/tokens/").content.decode()
    assert secret not in again
    assert "nightly" in again
    api = Api.with_secret(secret)
    assert api.get("campaigns/pairs").status_code == 200
    token = ApiToken.objects.get()
    assert token.used_at is not None
    assert secret not in str(list(AuditEvent.objects.values()))
    assert logged_in(factories.user()).post(f"/tokens/{token.pk}/revoke/").status_code == 404
    client.post(f"/tokens/{token.pk}/revoke/")
    assert api.get("campaigns/pairs").status_code == 401
    assert AuditEvent.objects.filter(action="token_revoke").count() == 1


def test_the_form_offers_only_own_campaigns_and_names_what_is_wrong(manager):
    factories.antique(items=1, n=1, slug="other")
    client = logged_in(manager)
    page = client.post("/tokens/", {"name": "a", "scopes": ["read"], "campaign": "other", "days": "30"})
    assert not ApiToken.objects.exists()
    assert "errorlist" in page.content.decode()
    assert 'value="other"' not in page.content.decode()
    client.post("/tokens/", {"name": "a", "days": "30"})
    client.post("/tokens/", {"name": "a", "scopes": ["read"], "days": "400"})
    assert not ApiToken.objects.exists()


def command(*arguments):
    out = StringIO()
    call_command("api_tokens", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_creates_lists_and_revokes(manager):
    secret = command("Mara@example.org", "--create", "nightly", "--scope", "import", "--campaign", "pairs").strip()
    assert Api.with_secret(secret).get("token").json()["scopes"] == ["import"]
    listed = command("mara@example.org")
    assert f"…{secret[-4:]} nightly: import; pairs; used 2" in listed
    assert secret not in listed
    assert command("mara@example.org", "--revoke-all") == "mara@example.org: 1 tokens revoked\n"
    assert Api.with_secret(secret).get("token").status_code == 401
    with pytest.raises(CommandError, match="no active account"):
        command("nobody@example.org")
    with pytest.raises(CommandError, match="1 to 366 days"):
        command("mara@example.org", "--create", "a", "--days", "400")


def test_an_erased_person_has_no_tokens_left(manager):
    api = Api(manager)
    manager.delete()
    assert api.get("token").status_code == 401
    assert not ApiToken.objects.exists()


def test_a_role_that_needs_a_second_factor_needs_it_for_tokens_too(manager, settings):
    api = Api(manager)
    assert api.get("campaigns").status_code == 200
    settings.TWO_FACTOR_ROLES = ["manager"]
    answer = api.get("campaigns")
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:quorate:problem:two-factor-missing")
    manager.set_unusable_password()  # logs in by a provider, which has factors of its own
    manager.save()
    assert api.get("campaigns").status_code == 200


@pytest.mark.parametrize("cursor", ["W0luZmluaXR5XQ", "W10", "e30", "bnVsbA", "x"])
def test_a_cursor_that_is_none_is_said_to_be(manager, cursor):
    assert Api(manager).get(f"campaigns?cursor={cursor}").status_code == 422
