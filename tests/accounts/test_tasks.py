"""The sweeps of the accounts app."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session

from accounts.tasks import sessions_forget

pytestmark = pytest.mark.django_db


def test_sessions_that_expired_are_deleted_and_no_others(now):
    for key, expires in (("over", -1), ("current", 1)):
        Session.objects.create(session_key=key, session_data="", expire_date=now + timedelta(hours=expires))
    sessions_forget(now)
    assert list(Session.objects.values_list("session_key", flat=True)) == ["current"]
