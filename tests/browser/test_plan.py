"""A manager makes a forecast on the page, and holds it against what came."""

import pytest
from django.conf import settings

from accounts.models import Role
from tests import factories
from tests.axe import VARIANTS, assert_accessible

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_a_forecast_is_made_and_read(open_browser, language, view):
    campaign, manager = factories.antique(items=2, n=3), factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    watched = open_browser(manager, **view)
    watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])
    watched.go(f"/campaigns/{campaign.slug}/plan/")
    assert_accessible(watched.page, f"plan, empty {language}")
    watched.page.fill("[name=items]", "80")
    watched.page.fill("[name=people]", "12")
    watched.page.click("main form button.primary")
    watched.page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    watched.go(f"/campaigns/{campaign.slug}/plan/")
    watched.page.locator("svg.plot").wait_for()
    assert watched.page.locator("tbody tr").count() == 15
    assert_accessible(watched.page, f"plan {language}")
