"""What the list of HITs costs: statements, counted."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace import selectors
from marketplace.models import Hit
from marketplace.services.assignments import assignment_accept

pytestmark = pytest.mark.django_db(transaction=True)


def statements(client, address="/"):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address, headers={"host": "worker.localhost"}).status_code == 200
    return [one["sql"] for one in captured if not one["sql"].startswith(("BEGIN", "COMMIT"))]


def test_the_list_takes_one_statement_however_much_is_open(lab, worker):
    client = Client()
    client.force_login(worker)
    lab.hit()
    few = statements(client)
    for number in range(12):
        for _ in range(3):
            lab.hit(Title=f"Name the port {number}")
    many = statements(client)
    assert len(many) == len(few) <= 7  # session, worker, the clock of development, decisions, qualifications, messages
    assert len([sql for sql in many if "marketplace_hit" in sql]) == 1


def test_the_list_shows_what_a_worker_could_take(lab, worker, make_worker):
    """The list's own statement and ``open_hits`` say the same."""
    now = timezone.now()
    hits = [lab.hit(Title=f"Name the port {number % 3}", MaxAssignments=1 + number % 2) for number in range(9)]
    assignment_accept(hit_id=hits[0]["HITId"], worker=worker, now=now)
    assignment_accept(hit_id=hits[1]["HITId"], worker=make_worker("other"), now=now)
    assignment_accept(hit_id=hits[2]["HITId"], worker=make_worker("third"), now=now)
    Hit.objects.filter(hit_id=hits[4]["HITId"]).update(expires_at=now - timedelta(seconds=1))
    Hit.objects.filter(hit_id=hits[8]["HITId"]).update(expires_at=now + timedelta(seconds=60))
    found, more = selectors.groups(worker, now=now)
    assert not more
    for group in found:
        rows = selectors.open_hits(worker, now).filter(hit_type=group.hit_type).order_by("expires_at", "pk")
        assert (group.hit_id, group.available) == (rows[0].hit_id, rows.count())
        assert selectors.next_hit(worker, group.hit_type.group_id, now) == rows[0]
    assert sum(group.available for group in found) == selectors.open_hits(worker, now).count() == 6
