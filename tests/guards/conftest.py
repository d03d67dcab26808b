"""What the guards have in common."""

import pytest

from console import health


@pytest.fixture(autouse=True)
def _readiness_is_not_kept(monkeypatch):
    """Look again at each request: what a test before found says nothing of this one."""
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    health.readiness.forget()
