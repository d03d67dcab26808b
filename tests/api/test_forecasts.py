"""Forecasts by the interface."""

import pytest

from quality.models import CampaignPlan
from tests import factories
from tests.api.client import Api
from tests.api.test_campaign_life import done
from tests.api.test_requests import problem

pytestmark = pytest.mark.django_db


def test_a_forecast_is_calculated_and_listed():
    campaign = factories.antique(items=3)
    api = Api(factories.user(is_admin=True))
    path = f"campaigns/{campaign.slug}/plans"
    assert api.get(path).json() == {"results": [], "next": None}
    asked = api.post(path, {"items": 200, "people": 30, "budget": 12.5})
    problem(api.post(path, {"items": 100, "people": 30}), 409, "plan-running")
    job = done(api, asked)
    assert job["done"] == 60  # simulated runs; it can be stopped after each
    [found] = api.get(path).json()["results"]
    assert (found["id"], found["setting"]["items"], found["setting"]["votes"]) == (job["result"]["plan"], 200, 3)
    assert found["policies"]["target"]["target"]["budget_cents"] == 1_250
    costs = {name: one["cents"] for name, one in found["plans"].items()}
    assert set(costs) == {"paper", "fixed", "target"}
    assert all(0 < one["low"] <= one["value"] <= one["high"] for one in costs.values())
    problem(api.post(path, {"items": 200, "people": 3}), 422, "invalid")
    assert CampaignPlan.objects.count() == 1


def test_campaigns_without_votes_have_no_forecast():
    campaign = factories.campaign(items=1)
    api = Api(factories.user(is_admin=True))
    problem(api.post(f"campaigns/{campaign.slug}/plans", {"items": 200}), 409, "plan-without-votes")
