"""Readiness: what is slow isn't wrong."""

from datetime import timedelta

import pytest
from django.utils import timezone

from web.readiness import clocks_agree

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]


def test_clocks_agree_however_long_the_checks_took(now):
    assert list(clocks_agree(now - timedelta(hours=1))) == []


@pytest.mark.parametrize("off", [timedelta(hours=1), -timedelta(hours=1)])  # so long takes no answer
def test_clocks_that_differ_are_reported(now, monkeypatch, off):
    real = timezone.now
    monkeypatch.setattr("web.readiness.timezone.now", lambda: real() + off)
    [problem] = clocks_agree(now)
    assert problem.startswith("the clocks of this machine and of the database differ by ")
