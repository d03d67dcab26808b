"""What holds for every operation: tokens, limits, pages, fields, repeated requests, and lost updates."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import AuditEvent
from annotation.models import Campaign
from api.models import ApiToken, KeptAnswer
from api.tokens.services import TokenError, token_create, token_revoke
from jobs.models import Job
from jobs.services import job_run
from tests import factories
from tests.api.client import Api

pytestmark = pytest.mark.django_db
NEW = {
    "title": "Bridges and rivers",
    "task_type": "antique",
    "splits": [{"name": "train", "n": 3}],
    "consent": {"purpose": "For the tests.", "recorded": "Answers.", "contact": "a@example.org"},
}


@pytest.fixture
def campaign():
    return factories.antique(items=3, n=1)


@pytest.fixture
def manager(campaign):
    person = factories.user()
    factories.join(campaign, person, "manager")
    return Api(person)


@pytest.fixture
def boss():
    return Api(factories.user(is_admin=True))


def problem(answer, status, kind):
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), answer.content
    body = answer.json()
    assert (body["status"], body["type"]) == (status, f"urn:quorate:problem:{kind}")
    return body


def test_a_token_is_needed_and_says_what_it_is(manager, campaign):
    answer = manager.get("token")
    assert answer.status_code == 200
    assert answer.json()["scopes"] == ["read", "import", "manage", "release", "judge"]
    assert manager.secret not in answer.content.decode()
    missing = manager.get("token", Authorization="")
    assert "Bearer" in missing["WWW-Authenticate"]
    problem(missing, 401, "token-missing")
    problem(manager.get("token", Authorization="Bearer nothing"), 401, "token-unknown")
    problem(manager.get("token", Authorization=f"Basic {manager.secret}"), 401, "token-missing")


def test_only_the_hash_of_a_token_is_stored(manager):
    row = ApiToken.objects.values().get()
    assert manager.secret not in str(row)
    assert row["ending"] == manager.secret[-4:]


def test_expired_and_revoked_tokens_and_those_of_inactive_people_are_refused(campaign):
    apis = [Api(factories.user()) for _ in range(3)]
    ApiToken.objects.filter(pk=apis[0].token.pk).update(expires_at=timezone.now())
    token_revoke(token=apis[1].token, now=timezone.now())
    apis[2].token.user.is_active = False
    apis[2].token.user.save()
    kinds = ["token-expired", "token-unknown", "token-unknown"]
    for api, kind in zip(apis, kinds, strict=True):
        problem(api.get("token"), 401, kind)


def test_tokens_that_make_no_sense_are_not_created():
    person, now = factories.user(), timezone.now()
    for scopes, days in ((["read", "answer"], 1), ([], 1), (["read"], 0), (["read"], 9999)):
        with pytest.raises(TokenError):
            token_create(user=person, name="a", scopes=scopes, campaign=None, days=days, now=now)
    assert not ApiToken.objects.exists()


def test_a_token_does_what_its_scopes_say_and_no_more(campaign):
    person = factories.user()
    factories.join(campaign, person, "manager")
    reader = Api(person, ["read"])
    assert reader.get(f"campaigns/{campaign.slug}").status_code == 200
    body = problem(reader.post(f"campaigns/{campaign.slug}/state", {"state": "paused"}), 403, "scope-missing")
    assert '"manage"' in body["detail"]
    campaign.refresh_from_db()
    assert campaign.state == "open"
    problem(reader.get(f"campaigns/{campaign.slug}/gold-keys"), 403, "scope-missing")


def test_a_token_of_one_campaign_sees_no_other(campaign, boss):
    other = factories.antique(items=1, n=1)
    api = Api(boss.token.user, campaign=campaign)
    assert [one["slug"] for one in api.get("campaigns").json()["results"]] == [campaign.slug]
    problem(api.get(f"campaigns/{other.slug}"), 404, "not-found")
    problem(api.post("campaigns", NEW), 403, "not-allowed")
    job = Job.objects.filter(scope_id=other.pk).first()
    problem(api.get(f"jobs/{job.pk}"), 404, "not-found")
    assert boss.get(f"jobs/{job.pk}").status_code == 200


def test_each_act_names_the_token_also_in_the_job_that_it_causes(manager, campaign):
    answer = manager.post(f"campaigns/{campaign.slug}/guidelines", None)
    assert answer.status_code == 405
    assert manager.post(f"campaigns/{campaign.slug}/state", {"state": "paused"}).status_code == 200
    event = AuditEvent.objects.get(action="campaign_paused")
    assert event.data == {"token": str(manager.token.pk)}
    assert event.actor_id == manager.token.user.surrogate_id
    factories.import_rows(campaign, factories.pairs(2, prefix="5"))
    launched = manager.post(f"campaigns/{campaign.slug}/batches/2/launch")
    assert launched.status_code == 202
    assert job_run(job_id=launched.json()["id"])
    assert AuditEvent.objects.filter(action="batch_launch").latest("pk").data["token"] == str(manager.token.pk)
    assert "token" not in AuditEvent.objects.get(action="campaign_create").data


def test_lists_have_pages_that_lead_from_one_to_the_next(manager, campaign):
    seen, path, pages = [], f"campaigns/{campaign.slug}/items?limit=2&fields=id", 0
    while path:
        page = manager.get(path).json()
        assert set(page["results"][0]) == {"id"}
        seen += [one["id"] for one in page["results"]]
        path, pages = page["next"], pages + 1
    assert (seen, pages) == (list(campaign.items.order_by("pk").values_list("pk", flat=True)), 2)
    newest = manager.get(f"campaigns/{campaign.slug}/jobs?limit=1").json()
    second = manager.get(newest["next"]).json()
    assert newest["results"][0]["created_at"] >= second["results"][0]["created_at"]
    assert newest["results"][0]["id"] != second["results"][0]["id"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("limit=0", "limit"), ("limit=1001", "limit"), ("cursor=abc", "cursor"), ("cursor=W251bGxd", "cursor"),
     ("fields=id,secret", "fields"), ("cursor=WyJhIl0", "cursor"), ("lmit=5", "lmit")],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_named(manager, campaign, query, field):
    body = problem(manager.get(f"campaigns/{campaign.slug}/items?{query}"), 422, "invalid")
    assert body["errors"][0]["field"] == field


def test_a_body_that_makes_no_sense_names_the_field(boss):
    sent = {**NEW, "splits": [{"name": "train", "n": 0}], "tittle": "a"}
    body = problem(boss.post("campaigns", sent), 422, "invalid")
    assert {one["field"] for one in body["errors"]} == {"splits.0.n", "tittle"}
    even = {**NEW, "splits": [{"name": "train", "n": 2}]}
    assert problem(boss.post("campaigns", even), 422, "invalid")["errors"][0]["field"] == "splits"
    assert problem(boss.post("campaigns", data=b"{"), 400, "body-unreadable")
    assert problem(boss.post("campaigns", data=b"a", content_type="text/plain"), 415, "content-type")
    assert not Campaign.objects.exists()


def test_a_repeated_request_has_one_effect_and_the_same_answer(boss):
    first = boss.post("campaigns", NEW, Idempotency_Key='"k1"')
    assert (first.status_code, first["Location"]) == (201, "/api/v1/campaigns/bridges-and-rivers")
    second = boss.post("campaigns", NEW, Idempotency_Key="k1")
    assert (second.status_code, second.content, second["Location"]) == (201, first.content, first["Location"])
    assert second["ETag"] == first["ETag"]
    assert second["Idempotency-Replayed"] == "true"
    assert Campaign.objects.count() == 1
    problem(boss.post("campaigns", {**NEW, "title": "Other"}, Idempotency_Key="k1"), 422, "idempotency-key-reused")
    other = Api(boss.token.user)
    problem(other.post("campaigns", NEW, Idempotency_Key="k1"), 422, "invalid")  # of another token: another request
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=49))
    problem(boss.post("campaigns", NEW, Idempotency_Key="k1"), 422, "invalid")  # forgotten: the short name is taken
    assert boss.post("campaigns", {**NEW, "title": "Third"}, Idempotency_Key="k2").status_code == 201
    assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["k2"]


def test_secrets_are_in_no_kept_answer(manager, campaign):
    path = f"campaigns/{campaign.slug}"
    for where, sent, field in (
        ("invitations", {"role": "annotator"}, "link"),
        ("webhooks", {"url": "https://lab.example/"}, "secret"),
    ):
        first = manager.post(f"{path}/{where}", sent, Idempotency_Key=field)
        again = manager.post(f"{path}/{where}", sent, Idempotency_Key=field)
        secret = first.json()[field].rstrip("/").rpartition("/")[2]
        assert again.json() == {**first.json(), field: None}
        assert secret not in "".join(bytes(one.body).decode() for one in KeptAnswer.objects.all())


def test_a_refused_request_leaves_nothing_and_can_be_sent_again_with_its_key(boss, campaign):
    person = factories.user()
    factories.join(campaign, person, "manager")
    api = Api(person)
    path = f"campaigns/{campaign.slug}/state"
    campaign.state = "draft"
    campaign.save()
    problem(api.post(path, {"state": "paused"}, Idempotency_Key="k"), 409, "campaign-state")
    assert not KeptAnswer.objects.exists()
    campaign.state = "open"
    campaign.save()
    assert api.post(path, {"state": "paused"}, Idempotency_Key="k").status_code == 200


def test_of_two_writers_the_second_learns_of_the_first(manager, campaign):
    path = f"campaigns/{campaign.slug}/guidelines"
    etag = manager.get(path)["ETag"]
    problem(manager.send("PUT", path, {"body": "First."}), 428, "if-match-missing")
    first = manager.send("PUT", path, {"body": "First."}, If_Match=etag)
    assert (first.status_code, first.json()["version"]) == (200, 2)
    second = manager.send("PUT", path, {"body": "Second."}, If_Match=etag)
    problem(second, 412, "changed-meanwhile")
    assert second["ETag"] == first["ETag"]
    assert manager.get(path, If_None_Match=first["ETag"]).status_code == 304
    weak = f"W/{first['ETag']}"  # after compression
    assert manager.get(path, If_None_Match=weak).status_code == 304
    assert manager.send("PUT", path, {"body": "Third."}, If_Match=weak).json()["version"] == 3


def test_settings_that_are_not_sent_stay(manager, campaign):
    path = f"campaigns/{campaign.slug}"
    etag = manager.get(path)["ETag"]
    changed = manager.send("PATCH", path, {"title": "Other"}, If_Match=etag)
    assert (changed.status_code, changed.json()["title"]) == (200, "Other")
    assert changed.json()["deadline_seconds"] == campaign.deadline_seconds
    problem(manager.send("PATCH", path, {"title": "Third"}, If_Match=etag), 412, "changed-meanwhile")
    wrong = manager.send("PATCH", path, {"time_zone": "Mars"}, If_Match=changed["ETag"])
    assert problem(wrong, 422, "invalid")["errors"][0]["field"] == "time_zone"


def test_the_limit_of_requests_is_stated_and_kept(manager, settings):
    settings.API_REQUESTS_PER_MINUTE = 2
    first = manager.get("token")
    assert first["RateLimit-Policy"] == '"minute";q=2;w=60'
    assert first["RateLimit"].startswith('"minute";r=1;t=')
    manager.get("token")
    refused = manager.get("token")
    problem(refused, 429, "quota-exceeded")
    assert 1 <= int(refused["Retry-After"]) <= 60


def test_failures_are_problems_and_leave_nothing(manager, campaign, monkeypatch):
    path, sent = f"campaigns/{campaign.slug}/state", {"state": "paused"}
    manager._client.raise_request_exception = False

    def failing(error):
        def move(**_options):
            Campaign.objects.update(title="half done")
            raise error

        return move

    monkeypatch.setattr("api.resources.campaigns.campaign_move", failing(OperationalError("the connection is lost")))
    away = manager.post(path, sent, Idempotency_Key="k")
    problem(away, 503, "database-away")
    assert away["Retry-After"] == "10"
    monkeypatch.setattr("api.resources.campaigns.campaign_move", failing(RuntimeError("a mistake")))
    failed = problem(manager.post(path, sent, Idempotency_Key="k"), 500, "failed")
    assert "a mistake" not in failed["detail"]
    assert not Campaign.objects.filter(title="half done").exists()
    assert not KeptAnswer.objects.exists()


def test_addresses_without_an_operation_and_other_methods_are_problems(manager):
    problem(manager.get("nothing"), 404, "not-found")
    problem(manager.send("DELETE", "campaigns"), 405, "method-not-allowed")
    problem(manager.get("campaigns/nothing"), 404, "not-found")
