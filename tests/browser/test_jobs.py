"""The page of a job at work, which renews itself."""

from datetime import timedelta

import pytest

from jobs.models import Job
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_stop_keeps_the_focus_while_the_page_renews_itself(open_browser, now):
    campaign = factories.antique(items=1)
    job = Job.objects.create(
        kind="annotation.import_items",
        lane="bulk",
        payload={"name": "items.csv", "campaign": str(campaign.pk)},
        scope_id=campaign.pk,
        state="running",
        attempt=1,
        due_at=now,
        created_at=now,
        lease_until=now + timedelta(hours=1),
        done=40,
        total=100,
    )
    desk = open_browser(factories.user("boss", is_admin=True))
    desk.go(f"/jobs/{job.pk}/")
    desk.page.get_by_role("button", name="Stop").focus()
    Job.objects.update(done=41)
    desk.page.get_by_text("41 / 100").wait_for()
    assert desk.page.evaluate("document.activeElement.name") == "stop"
    desk.page.keyboard.press("Enter")
    desk.page.get_by_text("Stopped.").wait_for()
