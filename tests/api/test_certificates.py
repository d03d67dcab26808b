"""Certificates and systems by the API: what the pages do."""

import json

import pytest
from django.utils import timezone

from evaluation.system_scores import scores_refresh
from jobs.models import Job
from quality.labels.services.sealing import split_seal
from quality.models import Case, CaseState, Certificate, Inspection
from tests import factories
from tests.api.client import Api
from tests.evaluation.predicted import asked_campaign, predictions, truth
from tests.evaluation.predicted import judge_all as cases_judged
from tests.evaluation.systems import COUNT, answers, judge_all, judging_campaign, table
from tests.quality.certificates.worlds import ITEMS, SEED, certified_campaign, finish, labelled_campaign
from tests.quality.worlds import expert_of

pytestmark = pytest.mark.django_db


def test_a_certificate_from_frozen_labels_to_its_result():
    campaign, boss, experts = labelled_campaign()
    api, path = Api(boss), f"/api/v1/campaigns/{campaign.slug}/certificates"
    refused = api.post(path, {"error": 0.2})
    assert (refused.status_code, b"either a source" in refused.content) == (422, True)
    assert api.post(path, {"error": 0.2, "source": "a beacon"}).status_code == 202
    factories.run_jobs()
    [row] = json.loads(api.get(path).content)["results"]
    assert (row["state"], row["labels"], len(row["published"])) == ("frozen", ITEMS, 64)
    assert api.post(f"{path}/1/seed", {"seed": "not hexadecimal"}).status_code == 422
    assert json.loads(api.post(f"{path}/1/seed", {"seed": SEED}).content)["state"] == "judging"
    assert api.post(f"{path}/1/seed", {"seed": SEED}).status_code == 409
    factories.run_jobs()
    finish(campaign, Certificate.objects.get(), experts)
    [row] = json.loads(api.get(path).content)["results"]
    assert (row["state"], row["wrong"], row["low"]) == ("certified", 0, 0)
    assert row["judged"] > 0 and row["high"] < 0.3
    assert api.post(f"{path}/1/end", {}).status_code == 409
    assert api.post(f"{path}/2/end", {}).status_code == 404


def test_an_audit_is_ended_and_a_sealed_result_is_not_told():
    campaign, boss, _experts = certified_campaign()
    api, path = Api(boss), f"/api/v1/campaigns/{campaign.slug}/certificates"
    assert api.post(path, {"error": 0.2, "source": "dice"}).status_code == 202
    factories.run_jobs()
    assert json.loads(api.post(f"{path}/2/end", {}).content)["state"] == "ended"
    factories.run_jobs()
    assert not Case.objects.filter(state=CaseState.OPEN).exists()
    Inspection.objects.update(verdict="good")
    split_seal(split=campaign.splits.get(), actor_id=None, now=timezone.now())
    for row in json.loads(api.get(path).content)["results"]:
        assert {row[name] for name in ("labels", "published", "seed", "judged", "wrong", "low", "high")} == {None}


def test_systems_are_added_and_their_scores_are_read():
    campaign, boss = judging_campaign(), factories.user(is_admin=True)
    api, path = Api(boss), f"/api/v1/campaigns/{campaign.slug}/systems"
    content = table(answers("good", 0.9), answers("poor", 0.4))
    sent = api.send("POST", f"{path}?count={COUNT}&name=systems.csv", data=content, content_type="text/csv")
    assert sent.status_code == 202, sent.content
    factories.run_jobs()
    assert Job.objects.get(kind="evaluation.systems").state == "done"
    factories.launch(campaign)
    judge_all(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    data = json.loads(api.get(path).content)["data"]
    assert [row["system"] for row in data["systems"]] == ["good", "poor"]
    other = factories.antique(items=1, n=1)
    assert api.get(f"/api/v1/campaigns/{other.slug}/systems").status_code == 409
    assert api.post(f"{path}:judge", {"count": 20, "experts": 1}).status_code == 409  # nobody finds answers on pages


def test_systems_among_annotators_are_added_and_judged():
    campaign, boss = asked_campaign(), factories.user(is_admin=True)
    api, path = Api(boss), f"/api/v1/campaigns/{campaign.slug}/systems"
    sent = api.send(
        "POST",
        f"{path}:import-predictions?system=reader&least_long=0.5",
        data=predictions(campaign, truth),
        content_type="application/json",
    )
    assert sent.status_code == 202, sent.content
    factories.run_jobs()
    assert Job.objects.get(kind="evaluation.predictions").result["predictions"] == 24
    refused = api.post(f"{path}:judge", {"count": 24, "experts": 1})
    assert (refused.status_code, b"This campaign has 0 experts" in refused.content) == (422, True)
    expert = expert_of(campaign)
    assert api.post(f"{path}:judge", {"count": 0, "experts": 1}).status_code == 422
    assert api.post(f"{path}:judge", {"count": 24, "experts": 1}).status_code == 202
    factories.run_jobs()
    found = Api(expert).get(f"/api/v1/campaigns/{campaign.slug}/cases:judge").content.decode()
    assert "passage-0" in found
    assert not [word for word in ("of_system", "of_reference", "reader") if word in found]
    cases_judged(campaign)
    scores_refresh(campaign=campaign, now=timezone.now())
    data = json.loads(api.get(path).content)["data"]
    assert data["kinds"]["passage"]["judged"][0]["own"]["right"]["share"] == 1
    table_of_rows = api.send("POST", f"{path}?count=20&name=a.csv", data=b"a", content_type="text/csv")
    assert table_of_rows.status_code == 409
