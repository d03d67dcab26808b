"""One suite that every workforce passes: arrive, answer, submit, come back, run out, be stopped, be paid."""

import re

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Slot, Standing
from annotation.people.services.standing import standing_move
from tests import factories
from tests.workforces.acts import by_link, local
from tests.workforces.link.panel import come
from tests.workforces.prolific.conftest import Desk as ProlificDesk
from tests.workforces.prolific.conftest import farewell_of
from tests.workforces.prolific.site import ProlificSite
from workforces.kinds.base import ArrivalRefused
from workforces.kinds.registry import KINDS
from workforces.models import Ticket, Workforce
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db(transaction=True)
CODES = {
    "code_completed": "CODE-DONE",
    "code_screened_out": "CODE-OUT",
    "code_nothing_left": "CODE-LEFT",
    "items_per_ticket": 1,
}


class Internal:
    """Someone with an account."""

    def __init__(self, made):
        self.campaign = made.campaign
        self.person = factories.annotator(made.campaign)
        self.client = Client()
        self.client.force_login(self.person)

    surrogate_id = property(lambda self: self.person.surrogate_id)

    def open(self):
        return self.client.post(f"/work/{self.campaign.slug}/", follow=True).content.decode()

    def answer(self, page, label):
        form = re.search(r'action="(/assignments/[^"]*/stage/)"', page).group(1)
        version = re.search(r'name="version" value="(\d+)"', page).group(1)
        self.client.post(form, {"stage": "relevance", "version": version, "label": str(label)})

    def hand_in(self):
        """Nothing has to be submitted."""


class Link(Internal):
    """Someone sent by a panel."""

    def __init__(self, made):
        self.row = workforce_add(campaign=made.campaign, kind="link", terms=CODES, actor_id=None, now=timezone.now())
        self.visits, self.client = 0, Client()

    surrogate_id = property(lambda self: Ticket.objects.filter(workforce=self.row)[0].surrogate_id)

    def open(self):
        self.visits += 1
        page = self.client.get(by_link(self.row, "p1", f"s{self.visits}"), follow=True)
        self.address = page.redirect_chain[-1][0]
        body = page.content.decode()
        consent = re.search(r'action="([^"]*/agree/)".*?name="text" value="(\d+)"', body, re.DOTALL)
        if consent:
            self.client.post(consent.group(1), {"text": consent.group(2)})
            body = self.client.get(self.address).content.decode()
        return body

    def answer(self, page, label):
        form = re.search(r'action="([^"]*/answer/)"', page).group(1)
        version = re.search(r'name="version" value="(\d+)"', page).group(1)
        self.client.post(form, {"stage": "relevance", "version": version, "label": str(label)})


class MTurk:
    """Someone who takes a HIT at the marketplace."""

    def __init__(self, made):
        self.made = made
        made.round()
        self.worker = made.worker("contract")

    surrogate_id = property(lambda self: Ticket.objects.filter(workforce=self.made.workforce)[0].surrogate_id)

    def open(self):
        self.made.round()
        self.page = self.worker.in_frame(self.worker.take(), until="/answer/")
        return self.page.text if self.page else "All done"

    def answer(self, page, label):
        from simulation.browser import Browser

        frame = Browser()
        self.after = frame.send(self.page.form_to("/answer/"), label=str(label))

    def hand_in(self):
        from simulation.browser import Browser

        Browser().send(self.after.form_to("/mturk/externalSubmit"))
        self.made.round()
        self.made.round()


class Prolific(Link):
    """Someone who takes a place of a study."""

    def __init__(self, made):
        cache.clear()  # of Prolific's keys
        self.site = ProlificSite()
        self.site.__enter__()
        conf = made.settings
        conf.PROLIFIC_API_URL, conf.PROLIFIC_TOKEN = self.site.url, self.site.TOKEN
        conf.PROLIFIC_WORKSPACE, conf.PROLIFIC_PROJECT = self.site.WORKSPACE, self.site.PROJECT
        self.study = ProlificDesk(self.site, made.campaign, items_per_ticket=1)
        self.study.publish()
        self.row, self.client = self.study.workforce, Client()

    def open(self):
        self.study.round()
        if self.study.study["status"] != "ACTIVE":
            return "All done"
        url = self.site.reserve(self.study.posting.hit_id, "p1")
        self.visit, page = url, come(local(url), self.client)[1]
        return page.content.decode()

    def answer(self, page, label):
        super().answer(page, label)
        last = self.client.get(local(self.visit), follow=True)
        self.site.complete(self.visit, farewell_of(last))

    def hand_in(self):
        self.study.round(2)


CLASSES = {"internal": Internal, "link": Link, "mturk": MTurk, "prolific": Prolific}


def test_every_workforce_is_in_this_suite():
    assert set(CLASSES) == set(KINDS)


@pytest.fixture(params=sorted(CLASSES))
def visitor(request, desk):
    made = desk(items=2, n=1)
    found = CLASSES[request.param](made)
    yield found
    if isinstance(found, Prolific):
        found.site.__exit__()


def test_an_answer_counts_once_when_it_is_handed_in_and_fills_its_slot(visitor):
    visitor.answer(visitor.open(), 4)
    visitor.hand_in()
    annotation = Annotation.objects.get()
    assert (annotation.state, annotation.answer["label"]) == ("counted", 4)
    assert annotation.slot.state == "filled"


def test_everybody_meets_each_item_once_and_is_told_when_nothing_is_left(visitor):
    for _ in range(2):
        visitor.answer(visitor.open(), 3)
        visitor.hand_in()
    assert Annotation.objects.filter(state="counted").count() == 2
    assert Slot.objects.filter(state="filled").count() == 2
    if not isinstance(visitor, MTurk):  # there, no HIT is offered any more
        assert re.search("Nothing is left|All done", visitor.open())


def test_someone_who_is_suspended_gets_nothing_and_keeps_what_they_did(visitor):
    visitor.answer(visitor.open(), 3)
    visitor.hand_in()
    campaign = Annotation.objects.get().campaign
    with transaction.atomic():
        standing_move(
            campaign=campaign,
            surrogate_id=visitor.surrogate_id,
            to=Standing.SUSPENDED,
            actor_id=None,
            now=timezone.now(),
        )
    assert "answer/" not in visitor.open()
    assert Annotation.objects.get().state == "counted"


def test_terms_are_checked_where_they_are_given(desk):
    made = desk(items=1)
    for kind in KINDS:
        with pytest.raises(ValueError, match=r"reward|Amounts"):
            workforce_add(
                campaign=made.campaign,
                kind=kind,
                terms={**(CODES if kind == "link" else {}), "reward_cents": -1},
                actor_id=None,
                now=timezone.now(),
            )
        with pytest.raises(ValueError, match="Invalid recruitment settings"):
            workforce_add(campaign=made.campaign, kind=kind, terms={"nonsense": 1}, actor_id=None, now=timezone.now())
    assert set(Workforce.objects.values_list("kind", flat=True)) == {"mturk"}


def test_members_do_not_come_by_an_address():
    with pytest.raises(ArrivalRefused):
        KINDS["internal"].arrive({}, KINDS["internal"].terms_class())
