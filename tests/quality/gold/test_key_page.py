"""The page of a gold question tells what experts judged when they didn't confirm it."""

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from quality.experts.services.opinions import opinion_give
from quality.models import Case, GoldKey, GoldKeyState
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("label", "state"), [(4, GoldKeyState.ACTIVE), (1, GoldKeyState.WAITING)])
def test_experts_who_do_not_confirm_a_key_are_quoted(client, label, state):
    campaign = factories.antique(items=1)
    manager, expert = factories.user(), factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    factories.join(campaign, expert, Role.EXPERT)
    [key] = factories.gold_keys(campaign, 1, accepted=[4])
    client.force_login(manager)
    address = reverse("quality-gold-key", args=[campaign.slug, key.pk])
    client.post(address, {"what": "ask", "experts": 1})
    assert "Their judgments" not in client.get(address).content.decode()
    case = Case.objects.get()
    said = {part["key"]: label for part in case.parts}
    reason = "It answers another question."
    opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification=reason, now=timezone.now())
    key = GoldKey.objects.get()
    page = client.get(address).content.decode()
    assert key.state == state
    assert ("Their judgments: Out of context." in page and reason in page) is (state == GoldKeyState.WAITING)
