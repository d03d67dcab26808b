"""The marketplace's metrics: each operation has times of its own, and the text parses with Prometheus's parser."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.models import Delivery
from marketplace.services.requesters import requester_create

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "only-for-these-tests"


def scrape():
    answer = Client().get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    from prometheus_client.parser import text_string_to_metric_families

    families = text_string_to_metric_families(answer.content.decode())
    return {(one.name, *sorted(one.labels.items())): one.value for family in families for one in family.samples}


def test_without_the_token_there_is_nothing(settings):
    assert Client().get("/metrics").status_code == 404
    settings.METRICS_TOKEN = TOKEN
    assert Client().get("/metrics", headers={"authorization": "Bearer other"}).status_code == 404


def test_a_scrape_has_the_times_of_operations_and_what_waits(settings, lab):
    settings.METRICS_TOKEN = TOKEN
    lab.client.get_account_balance()
    Delivery.objects.create(
        requester=requester_create(name="A lab", fee_rules="none", signs_frames=False, now=timezone.now()),
        destination="http://127.0.0.1:1",
        transport="sns",
        message_id="1",
        body="{}",
        due_at=timezone.now() - timedelta(seconds=60),
    )
    found = scrape()
    assert found["quorate_request_seconds_count", ("group", "api.GetAccountBalance")] >= 1
    assert found["quorate_messages_waiting",] == 1
    assert found["quorate_messages_oldest_seconds",] >= 60
    assert found["quorate_database_up",] == 1
