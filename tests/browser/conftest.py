"""Chromium against a live server, with the worker's jobs done in between."""

import os

import pytest


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
