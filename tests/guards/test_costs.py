"""What each page costs the database: statements, counted, and no more of them where there is more of everything."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from accounts.services import invitation_create
from annotation.campaigns.services import numbers as annotation_numbers
from exports.models import Release
from jobs.ticks import tick
from quality.dashboard import services as quality_numbers
from quality.people.services.behaviour import behaviour_refresh
from tests import factories
from tests.guards.test_matrix import POLICY, own_routes
from tests.guards.world import World
from tests.workforces.acts import by_link, visit_of
from tests.workforces.link.panel import come
from workforces.models import Ticket
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db

# The statements of each page, by the name of its route; session and user are two of them, roles another two.
COSTS = {
    "api-tokens": 4,
    "approvals": 6,
    "board": 9,
    "boards": 9,
    "campaign": 13,
    "campaign-guidelines": 7,
    "campaign-import": 8,
    "campaign-new": 2,
    "campaign-document": 6,
    "campaign-documents": 6,
    "campaign-jobs": 6,
    "campaign-log": 8,
    "campaign-people": 10,
    "campaign-webhooks": 10,
    "campaign-plan": 9,
    "campaign-questions": 7,
    "campaign-search": 9,
    "campaign-settings": 7,
    "consent": 8,
    "home": 10,
    "item": 20,
    "items": 11,
    "job": 4,
    "leave": 7,
    "own-questions": 8,
    "pilot": 10,
    "privacy": 2,
    "notifications": 3,
    "quality": 16,
    "quality-audits": 9,
    "quality-behaviour": 8,
    "quality-certificates": 11,
    "quality-chart": 7,
    "quality-case": 9,
    "quality-cases": 8,
    "quality-decisions": 15,
    "quality-experts": 9,
    "quality-gold": 11,
    "quality-gold-key": 9,
    "quality-inspect": 7,
    "quality-people": 10,
    "quality-person": 17,
    "quality-policy": 9,
    "quality-rules": 9,
    "quality-standing": 9,
    "quality-studies": 9,
    "quality-studies-json": 6,
    "quality-study-design": 8,
    "quality-target": 9,
    "quality-workforces": 9,
    "ready": 6,
    "recent": 7,
    "release": 8,
    "release-score": 7,
    "releases": 9,
    "session": 2,
    "statement": 6,
    "statement-standing": 5,
    "visit": 9,
    "work": 14,
    "work-guidelines": 6,
}
NONE_AT_ALL = {"alive", "api-reference", "llms", "javascript-catalog", "styleguide"}
# These lead to another page, send a file, or show nothing without what was sent by mail.
NO_PAGES = {
    "api-description",
    "campaign-by-id",
    "hit",
    "join",
    "set_language",
    "invitation",
    "invitation-accept",
    "training",
    "metrics",
    "release-all",
    "release-file",
    "quality-chart-csv",
    "quality-chart-svg",
    "quality-certificate-file",
    "systems",  # only where systems are compared: tests/evaluation/test_systems.py
}
FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
READERS = ("annotator", "manager", "expert", "researcher", "admin")


class Crowded(World):
    """A world to which more of everything can be added."""

    def __init__(self) -> None:
        super().__init__()
        self.worker = User.objects.get(surrogate=self.assignment.surrogate_id)
        self.visit = ""

    def grow(self, numbers):
        now = timezone.now()
        for number in numbers:
            campaign = self.campaign
            factories.import_rows(campaign, factories.pairs(3, prefix=f"{number:02d}"))
            factories.gold_keys(campaign, 2, prefix=f"7{number:02d}")
            item = campaign.items.filter(cases=None, batch__purpose="work").order_by("pk").first()
            factories.case_in_discussion(campaign, item, self.people["expert"])
            factories.launch(campaign)
            person = factories.annotator(campaign)
            for label in (4, 3):
                factories.question(factories.vote(campaign, person, label).item, self.worker)
            invitation_create(
                scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=person.surrogate_id, now=now
            )
            Release.objects.create(
                campaign=campaign,
                number=1 + number,
                family="labels",
                ways=1,
                splits=["train"],
                state="ready",
                manifest={"files": {}},
                created_at=now,
            )
            link = workforce_add(campaign=campaign, kind="link", terms=self.link.terms, actor_id=None, now=now)
            self.visit = visit_of(come(by_link(link, f"p{number}", "s"))[1])
            factories.campaign(items=1)
        factories.examine(self.campaign)

    def page(self, name, pattern):
        """Return who may see a page, logged in, and its address."""
        _methods, allowed = POLICY[name]
        statement = statement_path(Ticket.objects.order_by("pk")[0])
        addresses = {"visit": self.visit, "statement": statement, "statement-standing": f"{statement}standing/"}
        client = Client()
        if allowed != "public":
            role = next(role for role in READERS if role in allowed)
            client.force_login(self.worker if role == "annotator" else self.people[role])
        return client, addresses.get(name) or self.address(pattern)

    def costs(self):
        """Return the statements of each page, seen once before and with what it asked for computed."""
        names = {name: pattern for name, pattern in own_routes() if "get" in POLICY[name][0].split()}
        pages = {name: self.page(name, pattern) for name, pattern in names.items() if name not in NO_PAGES}
        for client, path in pages.values():
            assert client.get(path).status_code == 200, path
        factories.run_jobs()
        for refresh in (annotation_numbers.numbers_refresh, quality_numbers.quality_numbers_refresh, behaviour_refresh):
            refresh(campaign=self.campaign, now=timezone.now())  # of all that there is now
        found = {}
        for name, (client, path) in pages.items():
            with CaptureQueriesContext(connection) as queries:
                client.get(path)
            found[name] = sum(not query["sql"].lstrip().startswith(FRAME) for query in queries)
        return found


def test_no_page_takes_more_statements_where_there_is_more_of_everything(settings, monkeypatch):
    settings.STYLEGUIDE = True
    for module in (annotation_numbers, quality_numbers):  # however slow this machine is, no page asks for numbers again
        monkeypatch.setattr(module, "STALE_SECONDS", 3600)
    tick(now=timezone.now())
    world = Crowded()
    world.grow(range(1, 3))
    few = world.costs()
    world.grow(range(3, 8))
    assert world.costs() == few
    assert {name: cost for name, cost in few.items() if cost > COSTS.get(name, 0)} == {}
    assert set(few) == set(COSTS) | NONE_AT_ALL
