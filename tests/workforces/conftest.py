"""A real marketplace process, the platform behind a real HTTP server, and people between them."""

from http.cookiejar import Cookie

import numpy as np
import pytest
from django.utils import timezone

from simulation.doors.market import MarketWorker
from simulation.people import Habits, Person
from simulation.world import KnownWorld
from tests import factories
from tests.marketplace.served import served
from workforces.kinds.mturk.rounds import ROUNDS
from workforces.models import Errand
from workforces.services.workforces import workforce_add

TERMS = {
    "reward_cents": 10,
    "has_fees": True,
    "qualification": "own",
    "approve_after_seconds": 0,
    "stale_seconds": 86_400,
    "undo_seconds": 0,
    "assignment_seconds": 600,
}


@pytest.fixture(scope="session")
def market(tmp_path_factory):
    """Return a running marketplace; its clock is its own."""
    with served(tmp_path_factory.mktemp("market"), MARKETPLACE_SWEEP_SECONDS="1") as running:
        yield running


def session_cookie(morsel):
    """Return a cookie of the worker's site for Python's jar."""
    return Cookie(
        0,
        morsel.key,
        morsel.value,
        None,
        False,
        "worker.localhost",
        False,
        False,
        "/",
        True,
        False,
        None,
        True,
        None,
        None,
        {},
    )


class Desk:
    """A campaign with postings at a marketplace, and what a test does to both."""

    def __init__(self, market, campaign, platform_url, settings, *, sign=True, calls=1, **terms):
        self.market, self.campaign, self.platform_url, self.settings = market, campaign, platform_url, settings
        arguments = () if sign else ("--no-sign-frames",)
        self.requester = market.requester(campaign.slug, "100", *arguments)
        settings.PLATFORM_URL = platform_url
        settings.MTURK_ENDPOINT_URL = self.requester["endpoint_url"]
        settings.MTURK_ACCESS_KEY_ID = self.requester["aws_access_key_id"]
        settings.MTURK_SECRET_ACCESS_KEY = self.requester["aws_secret_access_key"]
        settings.MTURK_FRAME_SECRET = self.requester["frame_secret"] if sign else ""
        settings.MTURK_SUBMIT_URLS = [f"http://worker.localhost:{market.port}"]
        settings.MTURK_REQUESTS_PER_SECOND = 0
        settings.MTURK_PULL_SECONDS = settings.MTURK_ROUND_SECONDS = 0
        settings.MTURK_RETRY_SECONDS = 30
        settings.MTURK_CALLS_IN_FLIGHT = calls
        self.workforce = workforce_add(
            campaign=campaign, kind="mturk", terms={**TERMS, **terms}, actor_id=None, now=timezone.now()
        )
        self.client = market.client(self.requester)

    def round(self):
        """Read, decide, send, once."""
        ROUNDS.request(now=timezone.now())
        factories.run_jobs()
        self.workforce.refresh_from_db()
        return self.workforce

    def hurry(self):
        """Let the time pass until what got no answer is tried again."""
        Errand.objects.filter(state="sending").update(due_at=timezone.now())

    def close(self):
        """Take down what is still posted: other tests share the marketplace."""
        for page in self.client.get_paginator("list_hits").paginate():
            for hit in page["HITs"]:
                self.client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)

    def worker(self, name, *, says=4, **habits):
        """Return someone with an account at the marketplace, logged in, who always chooses the same label."""
        email = f"{name}-{self.campaign.slug}@example.org"
        site, cookie = self.market.worker(email)
        chosen = {"returns": 0, "abandons": 0, "skips": 0, "twice": 0, "undoes": 0, "tabs": 0, "leaves": 0} | habits
        person = Person(5, len(name), 1.0, np.ones(4) / 4, habits=Habits(fatigue=0, drift=0, **chosen))
        worker = MarketWorker(site, email, "", person, KnownWorld((1, 2, 3, 4), {}, otherwise=says))
        worker.browser.cookies.set_cookie(session_cookie(cookie))
        return worker

    def money(self):
        """Return the marketplace's books of this requester, in cents."""
        shown = self.market.requester(self.campaign.slug, "0")
        return {name: round(float(shown[name]) * 100) for name in ("deposited", "available", "held", "paid", "fees")}


@pytest.fixture
def desk(market, transactional_db, live_server, settings, request):
    """Return a function that sets up a campaign, or takes one, with postings.

    A round makes one call at a time, unless the module has a number of `CALLS_IN_FLIGHT`.
    """

    def make(items=2, n=3, **options):
        terms = options.pop("terms", {})
        sign = options.pop("sign", True)
        campaign = options.pop("campaign", None) or factories.antique(items=items, n=n, **options)
        calls = getattr(request.module, "CALLS_IN_FLIGHT", 1)
        made.append(Desk(market, campaign, live_server.url, settings, sign=sign, calls=calls, **terms))
        return made[-1]

    made = []
    yield make
    for one in made:
        one.close()
