"""A campaign whose annotators come from a stand-in for Prolific."""

import re

import pytest
from django.core.cache import cache
from django.utils import timezone

from jobs.models import Job
from tests import factories
from tests.workforces.link.panel import come, work
from tests.workforces.prolific.site import ProlificSite
from workforces.kinds.prolific.reconcile import reconcile
from workforces.kinds.prolific.rounds import ROUNDS
from workforces.kinds.prolific.study import study_publish
from workforces.models import Errand, Posting
from workforces.services.workforces import workforce_add

TERMS = {
    "reward_cents": 150,
    "items_per_ticket": 2,
    "approve_after_seconds": 0,
    "undo_seconds": 0,
    "is_secure": True,
    "visits_each": 0,
}


class Desk:
    def __init__(self, site, campaign, **terms):
        self.site, self.campaign = site, campaign
        self.workforce = workforce_add(
            campaign=campaign, kind="prolific", terms={**TERMS, **terms}, actor_id=None, now=timezone.now()
        )

    def round(self, times=1):
        """Read, decide, adjust, send, also what waits to be tried again."""
        for _ in range(times):
            self.workforce.refresh_from_db()
            type(self.workforce).objects.filter(pk=self.workforce.pk).update(
                remote={**self.workforce.remote, "round_at": "", "is_told": True}
            )
            Posting.objects.filter(workforce=self.workforce).update(pulled_at=None)
            Errand.objects.filter(state__in=["due", "sending"]).update(due_at=timezone.now())
            Job.objects.filter(kind="workforces.prolific", state="queued").update(due_at=timezone.now())
            ROUNDS.request(now=timezone.now())
            factories.run_jobs()
            self.workforce.refresh_from_db()
        return self.workforce

    def publish(self):
        self.round()
        study_publish(workforce=self.workforce, actor_id=factories.user().surrogate_id, now=timezone.now())
        self.round()

    @property
    def posting(self):
        return Posting.objects.get(workforce=self.workforce)

    @property
    def study(self):
        return self.site.studies[self.posting.hit_id]

    def visit(self, pid, label=4):
        """Let a participant come and do all the work of a visit; return their address and their last page."""
        url = self.site.reserve(self.posting.hit_id, pid)
        return url, work(*come(url.removeprefix("http://testserver")), label)

    def submit(self, pid, label=4):
        """Let a participant do a visit and hand it in on Prolific; return the id of the submission."""
        url, page = self.visit(pid, label)
        self.site.complete(url, farewell_of(page))
        return re.search(r"SESSION_ID=(\w+)", url)[1]

    def books(self):
        """Return what was paid, after comparing both ledgers to the cent."""
        found = reconcile(workforce=self.workforce)
        assert found.agrees, found.differences
        return found.rewards_theirs, found.bonuses_theirs


def farewell_of(page):
    """Return the address of Prolific that a visit's last page leads to."""
    return re.search(r'(https?://[^"<\s]*/submissions/complete\?cc=\w+)', page.content.decode())[1]


@pytest.fixture
def site(settings):
    cache.clear()
    with ProlificSite() as made:
        settings.PROLIFIC_API_URL, settings.PROLIFIC_TOKEN = made.url, made.TOKEN
        settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = made.WORKSPACE, made.PROJECT
        settings.PLATFORM_URL = "http://testserver"
        settings.PROLIFIC_ROUND_SECONDS = 0
        yield made
    cache.clear()


@pytest.fixture
def desk(site, transactional_db):
    def make(items=4, n=1, **terms):
        return Desk(site, factories.antique(items=items, n=n), **terms)

    return make
