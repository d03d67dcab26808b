"""Errands are drawn in turns, however many are due."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import factories
from tests.workforces.conftest import TERMS
from workforces.services import turns
from workforces.services.outbox import errand_add
from workforces.services.turns import due_in_turns
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


def drawn_of(workforce):
    """Return the kinds that are drawn, and the statements that asked for each."""
    kinds, statements = [], []
    errands = due_in_turns(workforce)
    while True:
        with CaptureQueriesContext(connection) as asked:
            errand = next(errands, None)
        if errand is None:
            return kinds, statements
        kinds.append((errand.kind, errand.pk))
        statements.append([query["sql"] for query in asked])


def test_kinds_take_turns_and_every_errand_is_drawn_once_by_statements_that_do_not_grow(monkeypatch):
    monkeypatch.setattr(turns, "AT_ONCE", 2)
    now = timezone.now()
    workforce = workforce_add(campaign=factories.campaign(), kind="mturk", terms=TERMS, actor_id=None, now=now)
    with transaction.atomic():
        for seconds in (60, 60, 60, 60, 60, 30, 30, 90):  # several at the same instant, and not in the order of keys
            errand_add(workforce=workforce, kind="approve", due_at=now - timedelta(seconds=seconds))
        late = errand_add(workforce=workforce, kind="approve", due_at=now + timedelta(hours=1))
        refusal = errand_add(workforce=workforce, kind="reject", due_at=now)
    kinds, statements = drawn_of(workforce)
    assert kinds[:2] == [("approve", late.pk - 1), ("reject", refusal.pk)]
    assert sorted(pk for _, pk in kinds) == [*range(late.pk - 8, late.pk), refusal.pk]
    longest = [len(max(some, key=len)) for some in statements[2:] if some]  # those that begin after an earlier errand
    assert len(longest) == 3
    assert max(longest) <= longest[0] + 10


def test_five_publications_go_before_each_approval_and_keep_none_waiting():
    """Approvals that pile up halved the rate of publications, and people found no work."""
    now = timezone.now()
    workforce = workforce_add(campaign=factories.campaign(), kind="mturk", terms=TERMS, actor_id=None, now=now)
    with transaction.atomic():
        for kind in ["approve"] * 3 + ["publish"] * 7:
            errand_add(workforce=workforce, kind=kind, due_at=now)
    kinds, _ = drawn_of(workforce)
    assert [kind for kind, _ in kinds] == [*["publish"] * 5, "approve", *["publish"] * 2, "approve", "approve"]
