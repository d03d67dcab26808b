"""Notifications on their way: addresses that are none, tries that are counted, one that is slow."""

import http.server
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplace.models import Delivery
from marketplace.protocol.errors import RequestError
from marketplace.services.delivery import deliveries_send
from marketplace.services.destinations import check_destination, is_reachable_from_here
from marketplace.services.notifications import delivery_queue

pytestmark = pytest.mark.django_db(transaction=True)


def queue(lab, destination, transport="SNS", at=None):
    return delivery_queue(
        requester=lab.requester, destination=destination, transport=transport, version="2014-08-15",
        event={"EventType": "Ping", "EventTimestamp": "2026-11-21T00:00:00Z"}, now=at or timezone.now(),
    )  # fmt: skip


@pytest.mark.parametrize("destination", ["https://my_queue.example/1/q", "https://a..example/", f"https://{'a' * 64}.example/", "https://", "mailto:a@b.example"])  # fmt: skip
def test_an_address_that_cannot_be_looked_up_is_refused(destination):
    with pytest.raises(RequestError, match="URL"):
        check_destination("SQS", destination)


@pytest.mark.parametrize(
    "destination", ["https://a.example/", "http://127.0.0.1:9/", "http://[::1]:9/", "http://platform.localhost:9/x"]
)
def test_good_addresses_are_taken(destination):
    check_destination("SNS", destination)


def test_a_public_marketplace_sends_nothing_into_its_own_network(settings):
    settings.MARKETPLACE_IS_LOCAL = False
    for destination in (
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://169.254.169.254/latest",
    ):
        assert not is_reachable_from_here(destination)
    with pytest.raises(RequestError, match="https"):
        check_destination("SNS", "http://127.0.0.1:9/")


def test_whatever_goes_wrong_is_a_try_and_tries_end(lab):
    queue(lab, "https://my_queue.example/1/q", "SQS")
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


def test_a_slow_address_holds_up_its_own_messages_only(lab):
    servers = [
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), type(name, (Slow,), {"seen": 0})) for name in ("A", "B")
    ]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    slow, other = (f"http://127.0.0.1:{server.server_port}/" for server in servers)
    for destination in (slow, slow, other):
        queue(lab, destination)
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
