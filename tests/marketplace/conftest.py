"""The marketplace behind a real HTTP server, the unmodified boto3 in front of it, every answer checked raw."""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from marketplace.models import Requester, Worker
from marketplace.services import requesters, workers
from marketplace.services.ledger import money_deposit
from tests.marketplace.served import client_for
from tests.marketplace.wire import Coverage, walk_error, walk_output

HTML = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
    "<HTMLContent><![CDATA[<!doctype html><title>Ports</title><form><input name='port'></form>]]></HTMLContent>"
    "<FrameHeight>400</FrameHeight></HTMLQuestion>"
)


def external(url="https://tasks.example/task?campaign=1&amp;x=2", height=0):
    return (
        "<ExternalQuestion xmlns="
        '"http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">'
        f"<ExternalURL>{url}</ExternalURL><FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


HIT = {
    "LifetimeInSeconds": 3600,
    "AssignmentDurationInSeconds": 600,
    "Reward": "0.10",
    "Title": "Name the port",
    "Description": "Read a line and name the port in it.",
    "MaxAssignments": 3,
    "Question": HTML,
}


@pytest.fixture(scope="session")
def browser(whole_browser):
    """Return what workers have."""
    return whole_browser


@dataclass
class Side:
    """A requester with a boto3 client of their own, and what their answers have covered."""

    requester: Requester
    client: Any
    key: tuple[str, str]
    coverage: Coverage = field(default_factory=Coverage)

    def hit(self, **changes):
        return self.client.create_hit(**{**HIT, **changes})["HIT"]

    def money(self):
        self.requester.refresh_from_db()
        return {pot: getattr(self.requester, pot) for pot in ("deposited", "available", "held", "paid", "fees")}


def watch(side):
    """Walk every raw answer of a client against the service model."""

    def check(response_dict, operation_model, **_):
        body = json.loads(response_dict["body"] or b"{}")
        assert response_dict["headers"]["content-type"] == "application/x-amz-json-1.1"
        assert response_dict["headers"]["x-amzn-requestid"]
        if response_dict["status_code"] == 200:
            walk_output(operation_model, body, side.coverage)
        else:
            walk_error(body, side.coverage)

    side.client.meta.events.register("before-parse.mturk", check)


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def make_requester(transactional_db):
    """Return a function that makes a requester with money and a client of an address."""

    def make(name="lab", deposit="100", fees="published", url="http://127.0.0.1:9", **options):
        at = timezone.now()
        made = requesters.requester_create(name=name, fee_rules=fees, signs_frames=False, now=at)
        if Decimal(deposit):
            money_deposit(requester=made, amount=Decimal(deposit), now=at)
        key = requesters.key_create(requester=made, now=at)
        pair = (key.key_id, requesters.key_secret(key))
        side = Side(made, client_for(url, pair, **options), pair)
        watch(side)
        return side

    return make


@pytest.fixture
def site(live_server, settings):
    """Return the address of a served marketplace; its worker site is under worker.localhost."""
    port = live_server.url.rpartition(":")[2]
    settings.MARKETPLACE_URL = f"http://worker.localhost:{port}"
    settings.MARKETPLACE_CONTENT_URL = f"http://content.localhost:{port}"
    return live_server.url


@pytest.fixture
def lab(make_requester, site):
    """Return a requester with a hundred dollars."""
    return make_requester(url=site)


@pytest.fixture
def make_worker(transactional_db):
    """Return a function that makes a worker who has agreed to the terms."""

    def make(name="w", **fields):
        at = timezone.now()
        return workers.worker_create(
            email=f"{name}@example.org", password="correct horse", now=at, **{"agreed_at": at, **fields}
        )

    return make


@pytest.fixture
def worker(make_worker) -> Worker:
    """Return a worker."""
    return make_worker()
