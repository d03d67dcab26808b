"""Attacks through XML, frames and forms: refused with a modelled error, or harmless."""

import re

import pytest
import urllib3
from django.conf import settings as django_settings
from django.test import Client

from marketplace.models import Assignment
from marketplace.protocol import questions
from marketplace.protocol.errors import RequestError
from marketplace.services.assignments import WorkRefused, submit_secret
from tests.marketplace.acts import accept, do, give_back, refused, submit
from tests.marketplace.conftest import HIT, HTML, external

pytestmark = pytest.mark.django_db(transaction=True)
HTTP = urllib3.PoolManager()
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


BOMB = '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;&l;&l;&l;&l;">]><a>&m;</a>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        OUTSIDE,
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        "<a>&x;</a>",
        '<?xml version="1.0" encoding="bogus"?><a/>',
    ],
)
def test_xml_that_brings_entities_or_document_types_is_refused(lab, text):
    message = refused("XMLParseError", lab.client.create_hit, **HIT | {"Question": text})
    assert "root:" not in message


def test_a_question_over_the_limit_is_refused_and_one_at_it_is_not(lab):
    room = 65_535 - len(HTML.encode())
    lab.hit(Question=HTML.replace("Ports", "Ports" + "x" * room))
    refused(
        "InvalidParameterValue",
        lab.client.create_hit,
        **HIT | {"Question": HTML.replace("Ports", "Ports" + "x" * (room + 1))},
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://tasks.example/",
        "javascript:alert(1)",
        "//tasks.example/",
        "https://",
        "https://u:p@tasks.example/",
        "ftp://tasks.example/",
        "https://tasks.example/a b",
        "https://tasks.example/;script-src *",
        "https://work.example/profile/",
        "https://WORK.example/",
        "https://[::1",
    ],
)
def test_an_external_url_that_is_not_safe_is_refused(url):
    with pytest.raises(RequestError):
        questions.parse_question(external(url.replace("&", "&amp;")), own_hosts=frozenset({"work.example"}))


def test_loopback_may_be_http():
    for url in ("http://127.0.0.1:8000/", "http://localhost/", "http://platform.localhost:1/x", "http://[::1]:80/"):
        assert questions.parse_question(external(url)).content == url


def frame_of(client, assignment):
    page = client.get(f"/work/{assignment.pk}/", headers={"host": "worker.localhost"}).content.decode()
    from html import unescape

    return unescape(re.search(r'<iframe[^>]* src="([^"]+)"', page)[1]), re.search(r'sandbox="([^"]+)"', page)[1]


def test_the_content_of_an_html_question_is_boxed_in(lab, worker):
    script = HTML.replace("<form>", "<script>fetch('/profile/')</script><form>")
    assignment = accept(worker, lab.hit(Question=script))
    client = Client()
    client.force_login(worker)
    url, sandbox = frame_of(client, assignment)
    assert url.startswith("http://content.localhost:")
    assert "allow-same-origin" not in sandbox
    assert "allow-top-navigation" not in sandbox
    path = "/" + url.split("/", 3)[3]
    answer = Client().get(path, headers={"host": "content.localhost"})
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    assert "frame-ancestors http://worker.localhost:" in policy
    assert not answer.cookies
    assert "Set-Cookie" not in answer
    assert Client().get(path, headers={"host": "worker.localhost"}).status_code == 404
    for address in ("/", "/profile/", "/account/login/", "/healthz", "/static/css/base.css"):
        assert Client().get(address, headers={"host": "content.localhost"}).status_code == 404
    assert Client().get("/content/forged/", headers={"host": "content.localhost"}).status_code == 404


def test_an_external_frame_keeps_its_own_origin_only(lab, worker):
    assignment = accept(worker, lab.hit(Question=external()))
    client = Client()
    client.force_login(worker)
    url, sandbox = frame_of(client, assignment)
    assert "allow-same-origin" in sandbox
    assert "allow-top-navigation" not in sandbox
    secret = submit_secret(assignment)
    submit_to = django_settings.MARKETPLACE_URL.replace(":", "%3A").replace("/", "%2F") + f"%2Fs%2F{secret}"
    assert url == (
        f"https://tasks.example/task?campaign=1&x=2&assignmentId={assignment.assignment_id}&hitId={assignment.hit.hit_id}"
        f"&turkSubmitTo={submit_to}&workerId={worker.worker_id}"
    )
    page = client.get(f"/work/{assignment.pk}/", headers={"host": "worker.localhost"})
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-src https: https://tasks.example" in page["Content-Security-Policy"]


def test_a_preview_names_nobody_makes_no_row_and_takes_no_form(lab, worker):
    hit = lab.hit(Question=external())
    client = Client()
    client.force_login(worker)
    page = client.get(f"/hits/{hit['HITId']}/", headers={"host": "worker.localhost"}).content.decode()
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in page
    assert "workerId" not in page
    assert worker.worker_id not in re.search(r"<iframe[^>]+>", page)[0]
    assert not Assignment.objects.exists()
    sent = Client().post("/s/preview/mturk/externalSubmit", {"assignmentId": "x"}, headers={"host": "worker.localhost"})
    assert sent.status_code == 403
    assert not Assignment.objects.exists()


def test_a_former_holder_cannot_submit(lab, make_worker, settings):
    settings.MARKETPLACE_QUIRKS = settings.MARKETPLACE_QUIRKS | {"reuse_assignment_ids": True}
    hit = lab.hit(MaxAssignments=1)
    former = accept(make_worker("a"), hit)
    give_back(former)
    holder = accept(make_worker("b"), hit)
    assert holder.assignment_id == former.assignment_id
    client = Client()
    answer = client.post(
        f"/s/{submit_secret(former)}/mturk/externalSubmit",
        {"assignmentId": holder.assignment_id, "a": "1"},
        headers={"host": "worker.localhost"},
    )
    assert answer.status_code == 409
    holder.refresh_from_db()
    assert holder.state == "Accepted"
    submit(holder)


@pytest.mark.parametrize("secret", ["1~forged", "1", "~", "abc", "1~" + "A" * 43, "%00"])
def test_a_forged_submit_path_is_refused(lab, worker, secret):
    accept(worker, lab.hit())
    answer = Client().post(f"/s/{secret}/mturk/externalSubmit", {"a": "1"}, headers={"host": "worker.localhost"})
    assert answer.status_code == 403
    assert Assignment.objects.get().state == "Accepted"


def test_turk_submit_to_and_the_reserved_names_mean_nothing_to_the_form(lab, worker):
    assignment = accept(worker, lab.hit())
    form = {
        "turkSubmitTo": "https://evil.example/",
        "hitId": "3X",
        "workerId": "AX",
        "assignmentId": "3OTHER",
        "port": ["a", "b"],
        "n": "<&>\x0b",
    }
    answer = Client().post(
        f"/s/{submit_secret(assignment)}/mturk/externalSubmit", form, headers={"host": "worker.localhost"}
    )
    assert answer.status_code == 200
    assert "Location" not in answer
    assert b"evil" not in answer.content
    stored = Assignment.objects.get().answer
    assert "evil" not in stored
    assert re.findall(r"<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)</FreeText>", stored) == [
        ("port", "a|b"),
        ("n", "&lt;&amp;&gt;"),
    ]


def test_answers_that_are_too_long_are_refused_and_nothing_is_lost(lab, worker):
    assignment = accept(worker, lab.hit())
    with pytest.raises(WorkRefused, match="too_long"):
        submit(assignment, text="x" * 1_000_001)
    assert Assignment.objects.get().state == "Accepted"


def test_what_is_no_form_changes_nothing(lab, worker):
    path = f"/s/{submit_secret(accept(worker, lab.hit()))}/mturk/externalSubmit"
    host = {"host": "worker.localhost"}
    for answer in (
        Client().get(path, headers=host),
        Client().put(path, headers=host),
        Client().post(path, b"{}", content_type="application/json", headers=host),
    ):
        assert answer.status_code == 400
        assert "frame-ancestors http://worker.localhost" in answer["Content-Security-Policy"]  # it shows in the frame
    many = {f"f{number}": "" for number in range(6000)}
    assert Client().get(path, many, headers=host).status_code == 400
    assert Assignment.objects.get().state == "Accepted"


def test_a_form_without_a_method_is_taken_too(lab, worker):
    assignment = accept(worker, lab.hit())
    path = f"/s/{submit_secret(assignment)}/mturk/externalSubmit"
    answer = Client().get(
        path, {"assignmentId": assignment.assignment_id, "port": "東京"}, headers={"host": "worker.localhost"}
    )
    assert answer.status_code == 200
    assert "<FreeText>東京</FreeText>" in Assignment.objects.get().answer


@pytest.mark.parametrize(
    ("body", "expected"), [(b"port=Z%C3%BCrich", "Zürich"), (b"port=Z%FCrich", "Zürich"), (b"port=%80+5", "€ 5")]
)
def test_a_page_without_an_encoding_loses_no_letter(lab, worker, body, expected):
    path = f"/s/{submit_secret(accept(worker, lab.hit()))}/mturk/externalSubmit"
    kind = "application/x-www-form-urlencoded"
    assert Client().post(path, body, content_type=kind, headers={"host": "worker.localhost"}).status_code == 200
    assert f"<FreeText>{expected}</FreeText>" in Assignment.objects.get().answer


def test_browsers_are_sent_to_the_worker_sites_own_host(lab, settings):
    answer = Client().get("/account/login/?next=/work/", headers={"host": "127.0.0.1:8100"})
    assert (answer.status_code, answer["Location"]) == (302, f"{settings.MARKETPLACE_URL}/account/login/?next=/work/")
    assert Client().get("/healthz", headers={"host": "127.0.0.1:8100"}).status_code == 200


def test_a_signed_frame_can_be_verified_and_not_forged(lab, worker):
    import hashlib
    import hmac
    from urllib.parse import parse_qs, urlsplit

    from marketplace.services.requesters import frame_secret

    lab.requester.signs_frames = True
    lab.requester.save(update_fields=["signs_frames"])
    client = Client()
    client.force_login(worker)
    url, _ = frame_of(client, accept(worker, lab.hit(Question=external())))
    given = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    message = "\n".join(given[name] for name in ("hitId", "assignmentId", "workerId", "quorateExpires"))
    expected = hmac.new(frame_secret(lab.requester).encode(), message.encode(), hashlib.sha256).hexdigest()
    assert given["quorateSignature"] == expected


def test_blocked_and_unqualified_workers_cannot_accept(lab, make_worker):
    blocked, stranger, new = (
        make_worker("a", country="DE"),
        make_worker("b", country="US"),
        make_worker("c", country="DE"),
    )
    hit = lab.hit(
        QualificationRequirements=[
            {
                "QualificationTypeId": "00000000000000000071",
                "Comparator": "EqualTo",
                "LocaleValues": [{"Country": "DE"}],
            }
        ]
    )
    lab.client.create_worker_block(WorkerId=blocked.worker_id, Reason="x")
    for who, reason in ((blocked, "blocked"), (stranger, "unqualified")):
        with pytest.raises(WorkRefused, match=reason):
            accept(who, hit)
    assert accept(new, hit)


def test_records_are_counted_from_real_decisions(lab, make_worker):
    worker = make_worker("w", prior_approved=97, prior_rejected=2)
    needs = [
        {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan", "IntegerValues": [97]},
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [98]},
    ]
    hit = lab.hit(QualificationRequirements=needs)
    with pytest.raises(WorkRefused, match="unqualified"):
        accept(worker, hit)
    sent = do(worker, lab.hit())
    lab.client.approve_assignment(AssignmentId=sent.assignment_id)  # 98 of 100
    assert accept(worker, hit)


def test_where_masters_are_asked_for_the_requester_is_told(lab):
    needs = [{"QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "Comparator": "Exists"}]
    assert "no Masters" in refused(
        "InvalidParameterValue", lab.client.create_hit, **HIT, QualificationRequirements=needs
    )


def test_the_secret_of_a_key_is_in_no_table(lab):
    from django.apps import apps

    for table in apps.get_app_config("marketplace").get_models():
        for row in table.objects.values():
            assert lab.key[1] not in str(row)


def test_content_is_for_the_frame_only_and_a_login_leads_nowhere_else(lab, worker, settings):
    settings.MARKETPLACE_URL, settings.MARKETPLACE_CONTENT_URL = "http://worker.localhost", "http://content.localhost"
    client = Client()
    client.force_login(worker)
    page = client.get(f"/hits/{lab.hit()['HITId']}/", headers={"host": "worker.localhost"}).content.decode()
    path = re.search(r'src="http://content.localhost(/content/[^"?]+)', page)[1]
    direct = Client().get(path, headers={"host": "content.localhost", "sec-fetch-dest": "document"})
    assert direct.status_code == 403
    framed = Client().get(path, headers={"host": "content.localhost", "sec-fetch-dest": "iframe"})
    assert framed["Cache-Control"] == "private, no-store"
    login = {"login": worker.email, "password": "correct horse", "next": f"http://content.localhost{path}"}
    answer = Client().post("/account/login/", login, headers={"host": "worker.localhost"})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_an_upload_to_a_forged_or_a_real_path_is_not_stored(lab, worker):
    from django.core.files.uploadedfile import SimpleUploadedFile

    def big():
        return SimpleUploadedFile("a.bin", b"x" * 5_000_000)

    host = {"host": "worker.localhost"}
    secret = submit_secret(accept(worker, lab.hit()))
    assert Client().post("/s/forged/mturk/externalSubmit", {"f": big()}, headers=host).status_code == 403
    assert Client().post(f"/s/{secret}/mturk/externalSubmit", {"f": big()}, headers=host).status_code == 413


def test_a_country_is_given_once(lab, worker):
    client = Client()
    client.force_login(worker)
    for country in ("DE", "US"):
        form = {"display_name": "", "country": country, "subdivision": ""}
        assert client.post("/profile/", form, headers={"host": "worker.localhost"}).status_code == 302
    worker.refresh_from_db()
    assert worker.country == "DE"
