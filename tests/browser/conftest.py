"""Chromium against a live server, with the worker's jobs done in between."""

import os

import pytest

from tests import factories
from tests.browser.watched import Watched


@pytest.fixture
def open_browser(browser, live_server, request):
    """Return a function that opens a fresh, watched browser context, logged in as a given user."""
    opened = []

    def open_as(user=None, **options):
        watched = Watched(browser, live_server.url, **options)
        if user is not None:
            watched.log_in(user)
        opened.append(watched)
        return watched

    yield open_as
    folder = os.environ.get("QUORATE_SCREENSHOTS")
    if folder:  # what each browser saw last, for looking at after a failure
        for number, watched in enumerate(opened):
            watched.page.screenshot(path=f"{folder}/{request.node.name}-{number}.png")
    for watched in opened:
        watched.close()


@pytest.fixture
def at_work(open_browser):
    """Return a function that opens the desk of a new annotator at stage 1."""

    def start(campaign, **options):
        person = factories.annotator(campaign)
        watched = open_browser(person, **options)
        watched.go(f"/work/{campaign.slug}/")
        watched.page.keyboard.press("Enter")
        watched.page.wait_for_selector("[data-stage=question]")
        watched.page.wait_for_load_state()  # a page is seen before its scripts listen for keys
        return watched, person

    return start
