"""Notifications on their way: addresses that are none, tries that are counted, one that is slow."""

import contextlib
import http.server
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplace.models import Delivery
from marketplace.protocol.errors import RequestError
from marketplace.services.delivery import deliveries_send
from marketplace.services.destinations import address_to_send_to, check_destination
from marketplace.services.notifications import delivery_queue

pytestmark = pytest.mark.django_db(transaction=True)


def queue(lab, destination, transport="SNS", at=None):
    return delivery_queue(
        requester=lab.requester,
        destination=destination,
        transport=transport,
        version="2014-08-15",
        event={"EventType": "Ping", "EventTimestamp": "2026-11-21T00:00:00Z"},
        now=at or timezone.now(),
    )


@pytest.mark.parametrize(
    "destination",
    [
        "https://my_queue.example/1/q",
        "https://a..example/",
        f"https://{'a' * 64}.example/",
        "https://",
        "mailto:a@b.example",
    ],
)
def test_an_address_that_cannot_be_looked_up_is_refused(destination):
    with pytest.raises(RequestError, match="URL"):
        check_destination("SNS", destination)


@pytest.mark.parametrize(
    "destination", ["https://a.example/", "http://127.0.0.1:9/", "http://[::1]:9/", "http://platform.localhost:9/x"]
)
def test_good_addresses_are_taken(destination):
    check_destination("SNS", destination)


def test_a_public_marketplace_sends_nothing_into_its_own_network(settings):
    settings.MARKETPLACE_IS_LOCAL = False
    for host in (
        "127.0.0.1",
        "10.0.0.1",
        "localhost",
        "[::1]",
        "169.254.169.254",
        "[64:ff9b::a9fe:a9fe]",
        "[fec0::1]",
        "192.88.99.1",
        "[2002:7f00:1::]",
        "[::ffff:127.0.0.1]",
        "224.0.0.1",
    ):
        assert address_to_send_to(f"https://{host}/") is None, host
    assert address_to_send_to("https://1.1.1.1/") == "1.1.1.1"
    with pytest.raises(RequestError, match="https"):
        check_destination("SNS", "http://127.0.0.1:9/")


def test_queues_and_mail_need_to_be_set_up(settings):
    with pytest.raises(RequestError, match="not set up"):
        check_destination("SQS", "https://sqs.us-east-1.amazonaws.com/1/q")
    with pytest.raises(RequestError, match="not switched on"):
        check_destination("Email", "a@b.example")
    settings.MARKETPLACE_SQS_KEY, settings.MARKETPLACE_IS_LOCAL = "k", False
    check_destination("SQS", "https://sqs.us-east-1.amazonaws.com/1/q")
    with pytest.raises(RequestError, match="Amazon"):
        check_destination("SQS", "https://sqs.us-east-1.amazonaws.com.evil.example/1/q")


@pytest.mark.parametrize("destination", ["https://a.example/x\nforged", "https://a.example/" + "x" * 2000])
def test_a_destination_is_one_short_line(destination):
    with pytest.raises(RequestError, match="printable"):
        check_destination("SNS", destination)


def test_test_events_end_when_too_many_wait(lab, site):
    from marketplace.api import workers as api

    for _ in range(api.MOST_QUEUED):
        queue(lab, "http://127.0.0.1:9/")
    from tests.marketplace.acts import refused
    from tests.marketplace.test_conformance import NOTIFY

    refused("ThrottlingException", lab.client.send_test_event_notification, Notification=NOTIFY, TestEventType="Ping")


def test_an_address_that_drips_is_cut_off(lab, monkeypatch):
    import socket

    from marketplace.services import delivery

    monkeypatch.setattr(delivery, "_TOTAL_SECONDS", 1.0)
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip():
        connection, _ = listener.accept()
        connection.recv(65_536)
        with contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not stop.wait(0.1):
                connection.sendall(b"x")
        connection.close()

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    queue(lab, f"http://127.0.0.1:{listener.getsockname()[1]}/")
    assert deliveries_send(clock=timezone.now) == 1
    stop.set()
    thread.join(10)
    listener.close()
    stored = Delivery.objects.get()
    assert stored.delivered_at is None
    assert stored.error.startswith("HTTP:")


def test_whatever_goes_wrong_is_a_try_and_tries_end(lab):
    queue(lab, "https://my_queue.example/1/q", "SNS")
    at = timezone.now()
    for _try in range(20):
        deliveries_send(clock=lambda at=at: at)
        at += timedelta(days=1)
    stored = Delivery.objects.get()
    assert (stored.attempts, stored.due_at, stored.delivered_at) == (8, None, None)
    assert stored.error


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers when it is let go."""

    go = threading.Event()
    seen = 0

    def do_POST(self):
        type(self).seen += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        Slow.go.wait(20)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_slow_address_holds_up_its_requesters_messages_only(lab, make_requester):
    servers = [
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), type(name, (Slow,), {"seen": 0})) for name in ("A", "B")
    ]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    slow, other = (f"http://127.0.0.1:{server.server_port}/" for server in servers)
    for side, destination in ((lab, slow), (lab, slow), (make_requester(name="other"), other)):
        queue(side, destination)
    from django.db import connections

    def send():
        deliveries_send(clock=timezone.now)
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        if [server.RequestHandlerClass.seen for server in servers] == [1, 1]:
            break
        threading.Event().wait(0.05)
    assert [server.RequestHandlerClass.seen for server in servers] == [1, 1]  # the second to the slow one waits
    Slow.go.set()
    for thread in threads:
        thread.join(30)
    for server in servers:
        server.shutdown()
        server.server_close()
    assert Delivery.objects.filter(delivered_at=None).count() == 0
