"""Chromium against a live server, with the worker's jobs done in between."""

import os

import pytest

from tests import factories


class Watched:
    """A page whose console must stay clean; closing it checks."""

    def __init__(self, browser, base, *, expected=(), **options):
        self.base = base
        self.expected = expected  # texts of warnings that are known and meant
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.problems = []
        self.page.on("console", lambda message: self._note(message))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _note(self, message):
        known = ("status of 4", "Status Error Code 4", *self.expected)
        expected = any(text in message.text for text in known)
        if message.type in ("error", "warning") and not expected and message.text != "[object HTMLDivElement]":
            self.problems.append(f"{self.page.url}: {message.text}")

    def go(self, path):
        self.page.goto(self.base + path)

    def log_in(self, user):
        """Put a logged-in session into the browser."""
        from django.conf import settings
        from django.test import Client

        client = Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        self.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": self.base}])

    def close(self):
        self.context.close()
        assert not self.problems, self.problems


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
