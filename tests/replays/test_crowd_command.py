"""``manage.py crowd``: a campaign of a running platform is brought to life, and says so from then on."""

import re
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEvent, User
from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import Annotation, Campaign, CampaignState, Notification, NotificationKind
from tests import factories, writing
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def enlivened(campaign, url, *arguments, people=3):
    out = StringIO()
    call_command(
        "crowd", campaign.slug, "--url", url, "--people", str(people), "--seconds", "60", *arguments, stdout=out
    )
    campaign.refresh_from_db()
    return out.getvalue()


@pytest.mark.parametrize("make", [lambda: factories.antique(items=3, n=2), lambda: factories.campaign(n=2, items=3)])
def test_a_crowd_answers_whatever_a_campaign_asks(make, live_server):
    campaign = make()
    said = enlivened(campaign, live_server.url)
    assert Annotation.objects.filter(campaign=campaign, state="counted").count() == 6
    assert "by 3 annotators" in said
    assert said.rstrip().endswith("0 still open")
    assert campaign.is_synthetic
    assert AuditEvent.objects.get(action="campaign_mark_synthetic").scope_id == campaign.pk


def test_a_crowd_is_sent_no_emails_and_its_command_leaves_those_of_others_alone(live_server, settings):
    campaign, manager, backend = factories.antique(items=1, n=1), factories.user(), settings.EMAIL_BACKEND
    factories.join(campaign, manager)
    enlivened(campaign, live_server.url)
    assert backend == settings.EMAIL_BACKEND
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    assert [row.user for row in Notification.objects.filter(kind=NotificationKind.CAMPAIGN)] == [manager]


def test_a_crowd_writes_questions(live_server):
    campaign = writing.campaign("kbqa", options={"review": False, "recovery": False})
    enlivened(campaign, live_server.url, people=1)  # of several, the first might not read
    [found] = Annotation.objects.filter(campaign=campaign, state="counted")
    assert "高等数学" in found.answer["question"]


def test_the_work_of_people_is_not_marked_by_accident(live_server):
    campaign = factories.antique(items=2, n=2)
    factories.vote(campaign, factories.annotator(campaign), 3)
    with pytest.raises(CommandError, match="contains human answers"):
        enlivened(campaign, live_server.url)
    assert not Campaign.objects.get().is_synthetic
    enlivened(campaign, live_server.url, "--mixed")
    assert campaign.is_synthetic
    enlivened(campaign, live_server.url)  # a second time nothing is asked


def test_what_a_crowd_answered_is_released_with_its_mark(live_server, tmp_path):
    import json

    campaign = factories.antique(items=2, n=3)
    enlivened(campaign, live_server.url)
    factories.examine(campaign)
    call_command("release", campaign.slug, format="antique", to=tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["synthetic"] is True


def test_what_cannot_be_enlivened_is_said(live_server):
    campaign = factories.antique(items=1)
    with pytest.raises(CommandError, match="between 1 and 1,000"):
        enlivened(campaign, live_server.url, people=0)
    Campaign.objects.update(state="closed")
    with pytest.raises(CommandError, match="can work only in an open campaign"):
        enlivened(campaign, live_server.url)


@contextmanager
def another_server(is_alike):
    """Serve what answers at the same addresses, and lets nobody in."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if is_alike else 404)
            self.end_headers()
            self.wfile.write(b'<form method="post" action="/account/login/"><input name="login"></form>')

        do_POST = do_GET  # noqa: N815  the name that the library asks for

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_where_nobody_answers_nothing_is_made_and_nothing_marked():
    campaign = factories.antique(items=1)
    before = User.objects.count()
    with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:9 doesn't respond"):
        enlivened(campaign, "http://127.0.0.1:9")
    with (
        another_server(is_alike=False) as url,
        pytest.raises(CommandError, match="not like a running Quorate platform"),
    ):
        enlivened(campaign, url)
    assert (User.objects.count(), Campaign.objects.get().is_synthetic) == (before, False)


def test_a_platform_with_another_database_lets_nobody_in_and_one_account_is_named():
    campaign = factories.antique(items=1)
    before = User.objects.count()
    with another_server(is_alike=True) as url, pytest.raises(CommandError) as caught:
        enlivened(campaign, url)
    made = User.objects.latest("pk")
    assert f"The campaign wasn't marked, but the account {made.email} was created" in str(caught.value)
    assert (User.objects.count(), Campaign.objects.get().is_synthetic) == (before + 1, False)


def test_a_campaign_is_marked_with_the_first_answer_and_not_before(live_server):
    campaign = factories.antique(items=0)
    assert "0 answers" in enlivened(campaign, live_server.url, "--seconds", "2")
    assert not campaign.is_synthetic
    assert not AuditEvent.objects.filter(action="campaign_mark_synthetic").exists()


class Door:
    """A port that leads to a server until it is shut, as of a machine whose network goes away."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.open = self.listener.getsockname()[1], port, []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        with suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.target))
                self.open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()

    def shut(self):
        for one in (self.listener, *self.open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _pass_on(one, other):
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)


@pytest.mark.slow
def test_a_crowd_whose_platform_goes_away_says_what_it_left_and_goes_on(live_server):
    campaign = factories.antique(items=8, n=3)
    door = Door(live_server.thread.port)
    watch = threading.Thread(target=lambda: (wait_for(lambda: Annotation.objects.count() > 5), door.shut()))
    watch.start()
    with pytest.raises(CommandError, match="doesn't respond") as caught:
        enlivened(campaign, f"http://127.0.0.1:{door.port}")
    watch.join()
    submitted = int(re.search(r"(\d+) answers were submitted", str(caught.value))[1])
    assert 0 < submitted <= Annotation.objects.count() < 24
    assert f"{campaign.slug} is marked as answered by a synthetic crowd" in str(caught.value)
    before = Annotation.objects.count()
    said = enlivened(
        campaign, live_server.url, "--seconds", "5"
    )  # what the others hold stays theirs until its deadline
    answered = int(re.match(r"\d+", said)[0])
    assert answered
    assert Annotation.objects.filter(state="counted").count() == before + answered


def test_with_production_settings_a_campaign_is_named_twice(live_server, settings):
    settings.CROWD_NEEDS_NAME = True
    campaign = factories.antique(items=1, n=1)
    for named in ([], ["--production", "another"]):
        with pytest.raises(CommandError, match=f"add --production {campaign.slug}"):
            enlivened(campaign, live_server.url, *named)
    assert not User.objects.filter(email__endswith="@crowd.example").exists()
    enlivened(campaign, live_server.url, "--production", campaign.slug)
    assert campaign.is_synthetic


def test_a_pace_is_bounded(live_server):
    campaign = factories.antique(items=1, n=1)
    for pace in ("-1", "61"):
        with pytest.raises(CommandError, match="--pace must be between 0 and 60 seconds"):
            enlivened(campaign, live_server.url, "--pace", pace)
    assert "1 answers" in enlivened(campaign, live_server.url, "--pace", "0.1", people=1)
