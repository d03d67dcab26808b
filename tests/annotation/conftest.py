"""What tests of the queue need."""

from functools import partial
from uuid import UUID

import pytest

from annotation.slots.services import queue
from database.statements import Statement


@pytest.fixture
def look_ahead(monkeypatch):
    """Return a function that makes a look along the queue see so many slots."""

    def set_(slots):
        monkeypatch.setattr(queue, "LOOK_AHEAD", slots)
        for name, reopened in (("_LOOK", False), ("_LOOK_REOPENED", True)):
            query = partial(queue._look_query, reopened=reopened)
            monkeypatch.setattr(queue, name, Statement(query, UUID, UUID, int, int, int))

    return set_
