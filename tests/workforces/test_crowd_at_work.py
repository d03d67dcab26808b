"""The simulated crowd at real pages: a marketplace's frames, a panel's link, an account; and what people do besides answering."""

from http.cookiejar import Cookie

import numpy as np
import pytest
from django.conf import settings
from django.test import Client

from accounts.models import Membership
from annotation.models import Annotation, Assignment, EventChunk
from simulation.browser import Browser, NotHere
from simulation.crowd import Crowd
from simulation.doors.market import Outcome
from simulation.doors.member import Member
from simulation.people import Habits, Kind, Person
from simulation.reading.writing import WritingWorld
from simulation.world import KnownWorld
from tests import factories, writing

WORLD = KnownWorld((1, 2, 3, 4), {}, otherwise=3)
PANEL = {
    "reward_cents": 100,
    "items_per_ticket": 2,
    "code_completed": "C0MPL",
    "code_screened_out": "SCR33N",
    "code_nothing_left": "N0NE",
    "unsigned": "count",
}


def person(number=1, kind=Kind.HONEST, **habits):
    still = dict.fromkeys(
        ("returns", "abandons", "skips", "twice", "undoes", "tabs", "leaves", "fatigue", "drift"), 0.0
    )
    return Person(3, number, 1.0, np.ones(4) / 4, kind=kind, habits=Habits(**{**still, **habits}))


def member(live_server, campaign, who, name="anna"):
    user = factories.annotator(campaign)
    client = Client()
    client.force_login(user)
    found = Member(live_server.url, campaign.slug, user.email, "", who, WORLD)
    found.browser.cookies.set_cookie(
        _cookie(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value)
    )
    return found


def _cookie(name, value):
    return Cookie(
        0, name, value, None, False, "localhost.local", False, False, "/", True, False, None, True, None, None, {}
    )


@pytest.mark.django_db(transaction=True)
def test_a_member_answers_everything_there_is_and_then_finds_nothing(live_server):
    campaign = factories.antique(items=3, n=2)
    one = member(live_server, campaign, person())
    assert [one.work() for _ in range(4)] == [Outcome.HANDED_IN] * 3 + [Outcome.NOTHING]
    found = Annotation.objects.filter(campaign=campaign)
    assert [row.answer["label"] for row in found] == [3] * 3
    assert one.seconds > 3 * 0.8
    assert Assignment.objects.filter(state="live").count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_member_s_browser_sends_the_click_log_that_a_browser_would_send(live_server):
    campaign = factories.antique(items=2, n=2)
    member(live_server, campaign, person(leaves=1.0)).work()
    member(live_server, campaign, person(2, Kind.SCRIPT)).work()
    kinds = [set(_kinds(chunk)) for chunk in EventChunk.objects.order_by("pk")]
    assert kinds == [{"stage_shown", "blur", "focus", "answer"}, {"stage_shown", "answer"} | _told(campaign)]


def _kinds(chunk):
    import orjson
    from isal import igzip

    return [kind for _at, kind, _value in orjson.loads(igzip.decompress(bytes(chunk.events)))]


def _told(campaign):
    from accounts.selectors import consent_text_current

    return {"untrusted"} if consent_text_current(campaign.pk).tells_behaviour else set()


@pytest.mark.django_db(transaction=True)
def test_double_clicks_and_old_tabs_have_no_effect(live_server):
    campaign = factories.antique(items=3, n=2)
    one = member(live_server, campaign, person(twice=1.0, tabs=1.0))
    while one.work() is Outcome.HANDED_IN:
        pass
    assert Annotation.objects.filter(campaign=campaign, state="counted").count() == 3
    assert Annotation.objects.filter(campaign=campaign).count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_taken_back_is_given_again(live_server):
    campaign = factories.antique(items=2, n=2)
    one = member(live_server, campaign, person(undoes=1.0))
    while one.work() is Outcome.HANDED_IN:
        pass
    found = Annotation.objects.filter(campaign=campaign)
    assert (found.filter(state="undone").count(), found.filter(state="counted").count()) == (2, 2)


@pytest.mark.django_db(transaction=True)
def test_who_writes_what_was_asked_already_finds_other_words_and_in_the_end_leaves_it_to_others(live_server):
    rows = [
        {
            "id": f"t{year}",
            "triple": f"高等数学 ||| 出版时间 ||| {year}年",
            "facts": [f"出版时间 ||| {year}年", "页数 ||| 312"],
        }
        for year in range(2000, 2020)
    ]
    campaign = writing.campaign(rows=rows)
    one = member(live_server, campaign, person())
    one.world = one.desk.world = WritingWorld(1)
    outcomes = [one.work() for _ in range(len(rows) + 1)]
    questions = [row.answer["question"] for row in Annotation.objects.filter(campaign=campaign)]
    assert 1 < len(questions) == len(set(questions))
    assert len(questions) + Assignment.objects.filter(state="skipped").count() == len(rows)
    assert outcomes[0] is Outcome.HANDED_IN
    assert outcomes[-1] is Outcome.NOTHING


def test_a_worker_who_leaves_a_task_behind_says_nothing_and_one_who_returns_it_gives_it_back(desk):
    made = desk(items=2, n=2)
    made.round()
    assert made.worker("a", abandons=1.0).work() is Outcome.ABANDONED
    assert made.worker("bb", returns=1.0).work() is Outcome.RETURNED
    assert made.worker("ccc").work() is Outcome.HANDED_IN
    assert Annotation.objects.count() == 1


def test_a_crowd_of_workers_does_all_there_is_and_every_pair_gets_its_votes(desk):
    made = desk(items=3, n=2)
    made.round()
    crowd = Crowd([made.worker("w" * number) for number in range(1, 4)], seed=1, threads=2)
    for due in crowd._due:
        due.is_in = True  # they have no password here
    assert crowd.run(lambda: Annotation.objects.count() >= 6, seconds=60)
    made.round()
    assert Annotation.objects.filter(state="counted").count() == 6


def test_a_crowd_stays_on_this_machine(monkeypatch):
    import socket

    class Elsewhere:
        def __init__(self, *_args):
            pass

        def setsockopt(self, *_args):
            pass

        def getpeername(self):
            return ("93.184.216.34", 80)

        def close(self):
            self.is_closed = True

        def sendall(self, _data):
            raise AssertionError("something was sent to another machine")

    monkeypatch.setattr(socket, "create_connection", Elsewhere)
    for scheme in ("http", "https"):
        with pytest.raises(NotHere, match="stays on this one"):
            Browser().get(f"{scheme}://example.org/")
    with pytest.raises(NotHere, match="only http and https"):
        Browser().get("ftp://localhost/")


@pytest.mark.django_db(transaction=True)
def test_nobody_works_who_is_no_member(live_server):
    campaign = factories.antique(items=1, n=1)
    one = member(live_server, campaign, person())
    Membership.objects.filter(scope_id=campaign.pk).delete()
    assert one.work() is Outcome.NOTHING
    assert not Annotation.objects.exists()
