"""``manage.py sessions``: an administrator sees who is logged in, and ends all sessions of one person."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import AuditEvent, User

pytestmark = pytest.mark.django_db


def said(*arguments):
    out = StringIO()
    call_command("sessions", *arguments, stdout=out)
    return out.getvalue()


def test_sessions_are_listed_and_one_persons_are_ended_at_once():
    anna, bo = (User.objects.create_confirmed(f"{name}@example.org", "a long password") for name in ("anna", "bo"))
    clients = [Client(), Client(), Client()]
    for client, user in zip(clients, (anna, anna, bo), strict=True):
        client.force_login(user)
    lines = said().splitlines()
    assert [line.partition(", ")[0] for line in lines] == ["anna@example.org: 2", "bo@example.org: 1"]
    assert said("--end", "Anna@example.org") == "anna@example.org: 2 sessions ended\n"
    assert [client.get("/").status_code for client in clients] == [302, 302, 200]
    assert AuditEvent.objects.get(action="sessions_end").data == {"sessions": 2}
    with pytest.raises(CommandError, match="no account with the address"):
        said("--end", "nobody@example.org")
