"""The marketplace's probe of readiness."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.health import readiness
from marketplace.models import Delivery, UsedSignature
from marketplace.services.requesters import requester_create
from web import readiness as shared

pytestmark = pytest.mark.django_db


def ready():
    readiness.forget()
    answer = Client().get("/readyz")
    return answer.status_code, answer.content.decode()


def test_ready_means_that_work_can_be_done_and_requesters_hear_of_it(monkeypatch):
    assert ready() == (200, "ok\n")
    assert not UsedSignature.objects.exists()
    monkeypatch.setattr(shared.shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))
    assert ready() == (503, "the disk is nearly full\n")
    monkeypatch.undo()
    late = Delivery.objects.create(
        requester=requester_create(name="A lab", fee_rules="none", signs_frames=False, now=timezone.now()),
        destination="http://127.0.0.1:1",
        transport="sns",
        message_id="1",
        body="{}",
        due_at=timezone.now() - timedelta(seconds=60),
    )
    assert ready() == (200, "ok\n")
    Delivery.objects.filter(pk=late.pk).update(due_at=timezone.now() - timedelta(seconds=100))
    status, said = ready()
    assert status == 503 and said.startswith("messages to requesters haven't been sent for 10")
