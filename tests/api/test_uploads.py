"""Files that are sent to a presigned address first, without a token, and imported afterwards."""

import socket
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Membership
from annotation.models import Campaign, Item
from api.http import presigned
from api.models import ApiToken
from jobs.models import Job
from jobs.uploads import uploads_forget
from tests import factories
from tests.api.client import Api
from tests.api.test_campaign_life import NDJSON, boss, done, lines, slug, uploads  # noqa: F401  fixtures
from tests.api.test_requests import problem
from web.logs import redacted

pytestmark = pytest.mark.django_db
BODY = lines(factories.pairs(3))


@pytest.fixture
def asked(boss, slug):  # noqa: F811
    answer = boss.post(f"campaigns/{slug}/uploads", {"content_type": NDJSON, "size": len(BODY)})
    assert answer.status_code == 201, answer.content
    return answer.json()


def put(url, body=BODY, content_type=NDJSON):
    return Client(enforce_csrf_checks=True).put(url, body, content_type)


def imported(api, slug, asked, **headers):  # noqa: F811
    return api.post(f"campaigns/{slug}/items:import?upload={asked['upload']}&name=pairs.jsonl", **headers)


def test_a_file_is_sent_without_a_token_and_imported_once(boss, slug, asked):  # noqa: F811
    before = uploads()
    problem(imported(boss, slug, asked), 422, "invalid")  # nothing was sent yet
    assert put(asked["url"]).status_code == 201
    problem(put(asked["url"]), 409, "upload-used")
    assert len(uploads() - before) == 1
    first = imported(boss, slug, asked, Idempotency_Key="k")
    problem(imported(boss, slug, asked), 422, "invalid")
    assert done(boss, first)["result"]["imported"] == 3
    assert uploads() == before
    again = imported(boss, slug, asked, Idempotency_Key="k")
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    assert Job.objects.filter(kind="annotation.import_items").count() == 1
    problem(put(asked["url"]), 409, "upload-used")  # though its file is deleted
    problem(put(asked["url"], BODY + b"x"), 422, "upload-size")


def test_what_the_address_does_not_allow_is_refused_and_stores_nothing(boss, slug, asked):  # noqa: F811
    before = uploads()
    problem(put(asked["url"], BODY[:-1]), 422, "upload-size")
    problem(put(asked["url"], content_type="text/csv"), 415, "content-type")
    problem(put(asked["url"][:-1]), 404, "not-found")
    problem(Client().get(asked["url"]), 405, "method-not-allowed")
    path = f"campaigns/{slug}/uploads"
    problem(boss.post(path, {"content_type": "image/png", "size": 1}), 422, "invalid")
    problem(boss.post(path, {"content_type": NDJSON, "size": 0}), 422, "invalid")
    assert uploads() == before


def test_a_refused_import_keeps_the_file_for_another_try(boss, slug, asked):  # noqa: F811
    put(asked["url"])
    wrong = boss.post(f"campaigns/{slug}/items:import?upload={asked['upload']}&name=pairs.csv")
    problem(wrong, 422, "invalid")
    both = boss.post(f"campaigns/{slug}/items:import?upload={asked['upload']}", data=BODY, content_type=NDJSON)
    problem(both, 422, "invalid")
    assert done(boss, imported(boss, slug, asked))["result"]["imported"] == Item.objects.count() == 3


def test_the_type_of_an_upload_is_one_that_the_operation_reads(boss, slug):  # noqa: F811
    page = boss.post(f"campaigns/{slug}/uploads", {"content_type": "text/html", "size": 4}).json()
    assert put(page["url"], b"<p>a", "text/html").status_code == 201
    refused = boss.post(f"campaigns/{slug}/items:import?upload={page['upload']}")
    assert "text/html" in problem(refused, 422, "invalid")["errors"][0]["detail"]
    assert boss.post(f"campaigns/{slug}/documents:import?upload={page['upload']}").status_code == 202


def test_an_upload_belongs_to_its_campaign(boss, slug, asked):  # noqa: F811
    put(asked["url"])
    other = factories.antique(items=0)
    problem(imported(boss, other.slug, asked), 422, "invalid")
    manager = factories.user()
    factories.join(other, manager, "manager")
    problem(imported(Api(manager), slug, asked), 404, "not-found")


def test_an_address_ends_with_its_token_and_with_the_rights_of_its_owner(boss, slug, asked):  # noqa: F811
    manager = factories.user()
    factories.join(Campaign.objects.get(slug=slug), manager, "manager")
    theirs = Api(manager).post(f"campaigns/{slug}/uploads", {"content_type": NDJSON, "size": len(BODY)}).json()
    Membership.objects.filter(user=manager).delete()
    problem(put(theirs["url"]), 404, "not-found")
    ApiToken.objects.filter(pk=boss.token.pk).update(revoked_at=timezone.now())
    problem(put(asked["url"]), 404, "not-found")


def test_a_nearly_full_disk_takes_nothing(asked, settings):
    before = uploads()
    settings.DISK_FLOOR_BYTES = 2**62
    problem(put(asked["url"]), 507, "storage-full")
    assert uploads() == before


def test_the_address_is_in_no_log(asked):
    assert "/uploads/" in redacted(asked["url"])
    assert asked["upload"] not in redacted(asked["url"])


def test_a_repeated_import_gets_its_first_answer_after_the_upload_expired(boss, slug, asked, monkeypatch):  # noqa: F811
    put(asked["url"])
    first = imported(boss, slug, asked, Idempotency_Key="k")
    monkeypatch.setattr(presigned, "IMPORT_WITHIN", timedelta(0))
    assert imported(boss, slug, asked, Idempotency_Key="k").json() == first.json()


def test_uploads_expire(boss, slug, asked, monkeypatch):  # noqa: F811
    put(asked["url"])
    name = presigned.Presigned.of(asked["upload"]).file
    monkeypatch.setattr(presigned, "IMPORT_WITHIN", timedelta(0))
    monkeypatch.setattr(presigned, "SEND_WITHIN", timedelta(0))
    problem(imported(boss, slug, asked), 422, "invalid")
    problem(put(asked["url"]), 404, "not-found")
    assert Path(default_storage.path(name)).exists()
    uploads_forget(timezone.now() + timedelta(hours=25))
    assert not Path(default_storage.path(name)).exists()


def test_a_broken_connection_leaves_the_address_usable(asked, live_server):
    url = asked["url"].removeprefix("http://testserver")
    assert url == reverse("api-upload", args=[asked["upload"]])
    host, port = live_server.url.removeprefix("http://").split(":")
    before = uploads()
    with socket.create_connection((host, int(port))) as broken:
        head = f"PUT {url} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {NDJSON}\r\nContent-Length: {len(BODY)}\r\n\r\n"
        broken.sendall(head.encode() + BODY[:20])
        broken.shutdown(socket.SHUT_WR)
        assert b" 400 " in broken.makefile("rb").readline()
    assert put(asked["url"]).status_code == 201
    assert len(uploads() - before) == 1
