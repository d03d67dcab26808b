"""A browser page that is watched: nothing may be said on its console. Shared with the marketplace's own tests."""


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
        """Go to a page, and away from the one before at once: one that waits for a job could load itself again meanwhile."""
        for address in ("about:blank", self.base + path):
            self._go(address)

    def _go(self, address):
        """Open an address, once more if the page before reloaded itself in this very moment, as for a job that ended."""
        from playwright.sync_api import Error

        try:
            self.page.goto(address)
        except Error as error:
            if "interrupted by another navigation" not in str(error):
                raise
            self.page.wait_for_load_state()
            self.page.goto(address)

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
