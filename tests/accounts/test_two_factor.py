"""People with certain roles set up a second factor before they see any other page."""

import pytest
from allauth.account.signals import user_logged_in
from allauth.mfa.signals import authenticator_added
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.test import Client

from accounts.models import User
from accounts.two_factor import two_factor_added, two_factor_check
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)  # the signal comes after the commit
PASSWORD = "a long password"


@pytest.fixture(autouse=True)
def required(settings):
    """Require two factors of managers and administrators, as an environment variable does."""
    settings.TWO_FACTOR_ROLES = ("admin", "manager")
    user_logged_in.connect(two_factor_check)
    authenticator_added.connect(two_factor_added)
    yield
    user_logged_in.disconnect(two_factor_check)
    authenticator_added.disconnect(two_factor_added)


def logged_in(user):
    client = Client()
    client.post("/account/login/", {"login": user.email, "password": PASSWORD})
    return client


def person(email, **fields):
    return User.objects.create_confirmed(email, PASSWORD, **fields)


def test_an_administrator_sets_up_a_second_factor_first():
    client = logged_in(person("boss@example.org", is_admin=True))
    answer = client.get("/")
    assert answer["Location"] == "/account/2fa/totp/activate/"
    page = client.get(answer["Location"], follow=True)  # which asks for the password again
    assert "Your role needs a second factor." in page.content.decode()
    [(again, _)] = page.redirect_chain
    assert again.startswith("/account/reauthenticate/")
    page = client.post(again, {"password": PASSWORD}, follow=True)
    assert page.redirect_chain[-1][0] == "/account/2fa/totp/activate/"
    assert client.get("/")["Location"] == "/account/2fa/totp/activate/"
    secret = client.session["mfa.totp.secret"]
    code = format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))
    answer = client.post("/account/2fa/totp/activate/", {"code": code})
    assert answer.status_code == 302
    assert client.get("/").status_code == 200


def test_a_manager_needs_it_and_an_annotator_does_not():
    campaign = factories.campaign(items=1)
    manager, annotator = person("lead@example.org"), person("anna@example.org")
    factories.join(campaign, manager, role="manager")
    factories.join(campaign, annotator)
    assert logged_in(manager).get("/").status_code == 302
    assert logged_in(annotator).get("/").status_code == 200


def test_without_the_setting_nobody_needs_it(settings):
    settings.TWO_FACTOR_ROLES = ()
    assert logged_in(person("boss@example.org", is_admin=True)).get("/").status_code == 200
