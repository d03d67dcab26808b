"""What the guards have in common."""

import pytest

from console.health import readiness
from web import readiness as probes


@pytest.fixture(autouse=True)
def _readiness_is_not_kept(monkeypatch):
    """Look again at each request: what a test before found says nothing of this one."""
    monkeypatch.setattr(probes, "KEPT_SECONDS", 0.0)
    readiness.forget()
