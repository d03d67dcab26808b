"""A login by a provider in a real browser: the pages' own policy lets the form lead there, and nowhere else."""

import pytest

from accounts.models import User
from tests.accounts.test_login_providers import at_the_provider, openid, provider  # noqa: F401  fixtures

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def policy_with(settings, *origins):
    known = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    return {"DIRECTIVES": {**known, "form-action": [*known["form-action"], *origins]}}


def test_the_form_leads_to_the_provider_and_back(open_browser, provider, settings):  # noqa: F811
    at_the_provider(provider, "hanna", email="hanna@university.example", email_verified=True)
    settings.CONTENT_SECURITY_POLICY = policy_with(settings, provider)
    watched = open_browser()
    page = watched.page
    page.goto(f"{watched.base}/account/login/")
    page.get_by_role("button", name="Example University").click()
    page.wait_for_url(f"{provider}/oauth2/authorize**")
    page.fill("[name=sub]", "hanna")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{watched.base}/**")
    assert User.objects.get().email == "hanna@university.example"
    watched.problems = [one for one in watched.problems if not one.startswith(provider)]  # of the provider's own page


def test_without_its_origin_in_the_policy_the_browser_stays(open_browser, provider):  # noqa: F811
    watched = open_browser()
    page = watched.page
    page.goto(f"{watched.base}/account/login/")
    with page.expect_console_message(lambda line: "form" in line.text and "action" in line.text):
        page.get_by_role("button", name="Example University").click()
    assert page.url == f"{watched.base}/account/login/"
    watched.problems.clear()
