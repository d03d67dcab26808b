"""Each request has an id: in its response, its log lines, and the jobs and errands that it causes."""

import json
import logging

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from jobs.models import Job
from jobs.registry import JobKind, Lane
from jobs.services import job_enqueue, job_run
from tests import factories
from web.logs import JsonFormatter, redacted
from web.request_log import RequestIdFilter, RequestLogMiddleware, current_request_id, logged_as
from workforces.services.outbox import errand_add
from workforces.services.workforces import workforce_add

LINK = {"code_completed": "1", "code_screened_out": "2", "code_nothing_left": "3"}


@pytest.fixture
def lines(settings, caplog):
    settings.LOG_REQUESTS = True
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(RequestIdFilter())
    caplog.handler.setFormatter(JsonFormatter())
    return lambda: [json.loads(line) for line in caplog.text.splitlines()]


@pytest.mark.django_db
def test_a_request_has_one_line_with_its_id_and_without_its_token(lines):
    answer = Client().get("/visit/abcdefgh/?token=secret")
    found = [line for line in lines() if line["logger"] == "quorate.requests"]
    assert len(found) == 1
    line = found[0]
    assert line["request_id"] == answer["X-Request-ID"]
    assert line["message"].startswith(f"GET /visit/…/ {answer.status_code} ")
    assert line["group"] == "workforces.views"
    assert line["status"] == answer.status_code
    assert "abcdefgh" not in json.dumps(line)
    assert "secret" not in json.dumps(line)


def test_the_token_of_a_password_reset_is_in_no_line():
    assert redacted("/account/password/reset/key/3-abc-def/") == "/account/password/reset/key/…/"


@pytest.mark.django_db
def test_a_failure_that_django_logs_has_the_id_too(lines):
    answer = Client().get("/visit/abcdefgh/")
    assert answer.status_code == 403
    found = [line for line in lines() if line["logger"] == "django.request"]
    assert [line["request_id"] for line in found] == [answer["X-Request-ID"]]
    assert current_request_id() == ""


@pytest.mark.django_db
def test_probes_are_not_logged(lines):
    Client().get("/healthz")
    assert not [line for line in lines() if line["logger"] == "quorate.requests"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("proxies", "sent", "is_kept"),
    [(1, "from-the-proxy-1", True), (0, "from-the-proxy-1", False), (1, "a b\r\nX: y", False), (1, "short", False)],
)
def test_only_a_trusted_proxy_names_a_request(settings, proxies, sent, is_kept):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    seen = []
    middleware = RequestLogMiddleware(lambda _request: seen.append(current_request_id()) or HttpResponse())
    request = RequestFactory().get("/", headers={"x-request-id": sent})
    request.resolver_match = None
    answer = middleware(request)
    assert (answer["X-Request-ID"] == sent) is is_kept
    assert seen == [answer["X-Request-ID"]]
    answer.close()
    assert current_request_id() == ""


@pytest.mark.django_db
def test_jobs_and_errands_keep_the_id_of_the_request_that_caused_them(monkeypatch, lines):
    seen = []

    def run(_work):
        seen.append(current_request_id())
        logging.getLogger("some.job").warning("something was seen")
        return {}

    campaign = factories.antique(items=1, n=1)
    workforce = workforce_add(campaign=campaign, kind="link", terms=LINK, actor_id=None, now=timezone.now())
    monkeypatch.setattr("jobs.services.kind_named", lambda _name: JobKind("test.logged", run, Lane.UPKEEP))
    with logged_as("request-1"):
        job = job_enqueue(kind="test.logged", payload={}, now=timezone.now())
        errand = errand_add(workforce=workforce, kind="approve", due_at=timezone.now())
    assert errand.request_id == "request-1"
    assert Job.objects.get(pk=job.pk).request_id == "request-1"
    job_run(job_id=job.pk)
    assert seen == ["request-1"]
    found = {line["logger"]: line for line in lines()}
    assert found["some.job"]["request_id"] == "request-1"
    assert "done after" in found["jobs.services"]["message"]
