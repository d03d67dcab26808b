"""Events and webhooks: each event arrives at least once, signed, whatever the receiver does."""

import base64
import http.server
import json
import threading
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import AuditEvent
from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import CampaignState
from api.models import Webhook, WebhookDelivery
from api.webhooks import sending
from api.webhooks.services import SEND_JOB, WebhookError, address_check, events_due
from jobs.events import KINDS, event_add, events_forget
from jobs.models import Event, Job
from quality.dashboard.services import quality_numbers_refresh
from tests import factories
from tests.api.client import Api
from tests.api.test_requests import problem
from web.webhooks import key_of, signature_of

pytestmark = pytest.mark.django_db(transaction=True)


class Receiver:
    """A server that keeps what it gets and answers as it is told: statuses, one after another, then 200."""

    def __init__(self):
        self.got, self.answers, self.headers, self.hangs = [], [], {}, None

    def __enter__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                if receiver.hangs is not None:
                    receiver.hangs.wait(30)
                self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def campaign():
    return factories.antique(items=2, n=1, slug="pairs")


@pytest.fixture
def manager(campaign):
    person = factories.user()
    factories.join(campaign, person, "manager")
    return Api(person)


def pause(campaign, to=CampaignState.PAUSED):
    campaign_move(campaign=campaign, to=to, actor_id=None, now=timezone.now())


def spread():
    """Publish events and send what is due, as the tick would."""
    for _ in range(3):
        events_due(timezone.now())
        factories.run_jobs()


def is_verified(secret, headers, body):
    key, sent = key_of(secret), headers["webhook-signature"].split()
    expected = signature_of(
        key, message_id=headers["webhook-id"], timestamp=int(headers["webhook-timestamp"]), body=body
    )
    return f"v1,{expected}" in sent


def hooked(manager, receiver, **sent):
    answer = manager.post("campaigns/pairs/webhooks", {"url": receiver.url, **sent})
    assert answer.status_code == 201, answer.content
    spread()  # what happened before isn't sent
    return answer.json()


def test_an_event_arrives_signed_and_is_in_the_feed(manager, campaign, receiver):
    made = hooked(manager, receiver, kinds=["campaign.paused"])
    assert manager.get("campaigns/pairs/webhooks").json()["results"][0]["secret"] is None
    last = manager.get("campaigns/pairs/events").json()["last"]
    pause(campaign)
    spread()
    [(headers, body)] = receiver.got
    assert is_verified(made["secret"], headers, body)
    assert not is_verified("whsec_" + base64.b64encode(b"x" * 32).decode(), headers, body)
    message = json.loads(body)
    assert (message["type"], message["data"]["campaign"]) == ("campaign.paused", "pairs")
    feed = manager.get(f"campaigns/pairs/events?after={last}").json()
    assert [one["type"] for one in feed["results"]] == ["campaign.paused"]
    assert feed["results"][0]["number"] == message["data"]["number"] == feed["last"]
    [delivery] = manager.get(f"campaigns/pairs/webhooks/{made['id']}/deliveries").json()["results"]
    assert (delivery["attempts"], delivery["problem"], delivery["due_at"]) == (1, "", None)
    pause(campaign, CampaignState.OPEN)  # of a kind that it doesn't want
    spread()
    assert len(receiver.got) == 1


def test_what_fails_is_sent_again_with_the_same_id_and_given_up_after_three_days(manager, campaign, receiver):
    hooked(manager, receiver, kinds=["campaign.paused"])
    receiver.answers = [500, 302]
    receiver.headers = {"Location": "http://127.0.0.1:1/inward"}
    pause(campaign)
    spread()
    row = WebhookDelivery.objects.get()
    assert (row.attempts, row.problem, len(receiver.got)) == (1, "HTTP status 500", 1)
    assert timedelta(seconds=3) < row.due_at - timezone.now() < timedelta(seconds=6)
    for problem_then in ("HTTP status 302", ""):
        WebhookDelivery.objects.update(due_at=timezone.now())
        spread()
        row.refresh_from_db()
        assert row.problem == problem_then
    assert row.delivered_at is not None
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len(receiver.got) == 3
    WebhookDelivery.objects.update(due_at=timezone.now(), attempts=9, delivered_at=None)
    receiver.answers = [503]
    spread()
    row.refresh_from_db()
    assert (row.due_at, row.problem) == (None, "HTTP status 503")


def test_a_receiver_that_asks_to_wait_is_given_the_time(manager, campaign, receiver):
    hooked(manager, receiver, kinds=["campaign.paused"])
    receiver.answers, receiver.headers = [429], {"Retry-After": "900"}
    pause(campaign)
    spread()
    assert WebhookDelivery.objects.get().due_at - timezone.now() > timedelta(seconds=800)


def test_a_receiver_that_is_gone_is_turned_off_until_someone_turns_it_on(manager, campaign, receiver):
    made = hooked(manager, receiver, kinds=["campaign.paused", "campaign.opened"])
    receiver.answers = [410]
    pause(campaign)
    spread()
    pause(campaign, CampaignState.OPEN)
    spread()
    assert len(receiver.got) == 1
    assert Webhook.objects.get().disabled_at is not None
    WebhookDelivery.objects.update(due_at=timezone.now())
    before = Job.objects.filter(kind=SEND_JOB).count()
    events_due(timezone.now())
    assert Job.objects.filter(kind=SEND_JOB).count() == before  # nothing can be sent
    WebhookDelivery.objects.update(due_at=None)
    assert manager.post(f"campaigns/pairs/webhooks/{made['id']}/enable").json()["disabled_at"] is None
    pause(campaign)
    spread()
    assert len(receiver.got) == 2


def test_where_nobody_listens_the_others_get_their_messages(manager, campaign, receiver):
    with Receiver() as gone:
        away = gone.url
    assert manager.post("campaigns/pairs/webhooks", {"url": away}).status_code == 201
    hooked(manager, receiver)
    pause(campaign)
    spread()
    assert len(receiver.got) == 1
    assert "ConnectionRefused" in Webhook.objects.get(url=away).problem


def test_a_receiver_that_hangs_holds_up_nobody_else(manager, campaign, receiver, monkeypatch):
    monkeypatch.setattr(sending, "ANSWER_SECONDS", 0.5)
    with Receiver() as slow:
        slow.hangs = threading.Event()
        try:
            assert manager.post("campaigns/pairs/webhooks", {"url": slow.url}).status_code == 201
            hooked(manager, receiver)
            pause(campaign)
            spread()
        finally:
            slow.hangs.set()
    assert len(receiver.got) == 1
    row = WebhookDelivery.objects.get(webhook__url=slow.url, event__kind="campaign.paused")
    assert (row.attempts, row.delivered_at) == (1, None)
    assert row.due_at > timezone.now()


def test_for_a_day_after_a_rotation_both_secrets_hold(manager, campaign, receiver):
    made = hooked(manager, receiver)
    rotated = manager.post(f"campaigns/pairs/webhooks/{made['id']}/rotate").json()
    assert rotated["secret"] != made["secret"]
    pause(campaign)
    spread()
    assert all(is_verified(secret, *receiver.got[0]) for secret in (made["secret"], rotated["secret"]))
    Webhook.objects.update(rotated_at=timezone.now() - timedelta(hours=25))
    pause(campaign, CampaignState.OPEN)
    spread()
    assert is_verified(rotated["secret"], *receiver.got[1])
    assert not is_verified(made["secret"], *receiver.got[1])
    stored = str(list(Webhook.objects.values())) + str(list(AuditEvent.objects.values()))
    assert made["secret"] not in stored
    assert rotated["secret"] not in stored


def test_a_message_is_replayed_with_its_id(manager, campaign, receiver):
    made = hooked(manager, receiver, kinds=["campaign.paused"])
    pause(campaign)
    spread()
    row = WebhookDelivery.objects.get()
    again = manager.post(f"campaigns/pairs/webhooks/{made['id']}/deliveries/{row.pk}/replay")
    assert again.status_code == 200
    spread()
    first, second = receiver.got
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    assert first[1] == second[1]


def test_a_token_for_reading_does_not_get_the_addresses(manager, campaign, receiver):
    hooked(manager, receiver, form="chat")
    person = manager.token.user
    where = f"campaigns/{campaign.slug}/webhooks"
    assert Api(person, ["read"]).get(where).status_code == 403
    assert Api(person, ["manage"]).get(where).status_code == 200


def test_chat_and_mail_get_a_sentence(manager, campaign, receiver):
    hooked(manager, receiver, form="chat")
    assert manager.post("campaigns/pairs/webhooks", {"url": "lab@example.org", "form": "mail"}).status_code == 201
    mail.outbox.clear()
    pause(campaign)
    spread()
    text = json.loads(receiver.got[0][1])["text"]
    assert text.startswith(f"{campaign.title}: A campaign was paused")
    assert [one.to for one in mail.outbox if text in one.body] == [["lab@example.org"]]


@pytest.mark.parametrize(
    ("url", "form"),
    [("http://example.org/", "standard"), ("https://user@example.org/", "standard"), ("ftp://example.org", "chat"),
     ("https://", "chat"), ("https://exa mple.org/", "chat"), ("nobody", "mail"), ("https://example.org/", "mail")],
)  # fmt: skip
def test_addresses_that_nothing_can_be_sent_to_are_refused(settings, url, form):
    settings.WEBHOOKS_LOCAL = False
    with pytest.raises(WebhookError):
        address_check(url, form)


def test_a_public_installation_sends_nothing_inward(manager, campaign, receiver, settings):
    hooked(manager, receiver)
    settings.WEBHOOKS_LOCAL = False
    pause(campaign)
    spread()
    assert receiver.got == []
    assert "own network" in WebhookDelivery.objects.get(event__kind="campaign.paused").problem


def test_kinds_that_are_unknown_are_refused_and_only_managers_see_webhooks(manager, campaign):
    wrong = manager.post("campaigns/pairs/webhooks", {"url": "https://example.org/", "kinds": ["label.told"]})
    problem(wrong, 409, "webhook-kinds")
    for role in ("researcher", "expert"):
        person = factories.user()
        factories.join(campaign, person, role)
        for path in ("webhooks", "events"):
            problem(Api(person).get(f"campaigns/pairs/{path}"), 404, "not-found")


def test_what_happens_in_a_campaign_is_told_without_a_label(campaign):
    worker = factories.annotator(campaign)
    for _ in range(2):
        factories.submit(factories.label(factories.claim(campaign, worker), 4))
    factories.examine(campaign)
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    kinds = list(Event.objects.filter(scope_id=campaign.pk).order_by("pk").values_list("kind", flat=True))
    assert kinds.count("item.labeled") == 2
    assert kinds.count("batch.finished") == 1
    told = Event.objects.filter(kind="item.labeled").values_list("data", flat=True)
    assert all(set(one) == {"item", "external_id"} for one in told)
    assert {*kinds} <= {*KINDS}


def test_a_job_that_fails_is_told_and_old_events_are_deleted(campaign):
    now = timezone.now()
    Job.objects.create(
        kind="annotation.import_items", lane="bulk", scope_id=campaign.pk, due_at=now, created_at=now,
        payload={"campaign": str(campaign.pk), "file": "missing", "name": "a.jsonl", "pilot": False, "good_rows_only": False},
    )  # fmt: skip
    factories.run_jobs()
    assert Event.objects.get(kind="job.failed").data["job_kind"] == "annotation.import_items"
    spread()
    events_forget(now + timedelta(days=91))
    assert not Event.objects.exists()


def test_an_event_of_an_unknown_kind_is_a_mistake(campaign):
    from django.db import transaction

    with transaction.atomic(), pytest.raises(KeyError):
        event_add(kind="label.told", scope_id=campaign.pk, now=timezone.now())
