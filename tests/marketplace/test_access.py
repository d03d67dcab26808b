"""Who gets in where: visitors, newcomers, other workers; and what a page costs."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import get_resolver

from marketplace.models import Assignment, SignupInvitation, Worker
from marketplace.services.workers import invitation_create
from tests.marketplace.acts import accept, do
from tests.marketplace.conftest import HIT

pytestmark = pytest.mark.django_db(transaction=True)
HOST = {"host": "worker.localhost"}
PUBLIC = {
    "home",
    "healthz",
    "metrics",
    "readyz",
    "join",
    "external-submit",
    "helper-script",
    "content",
    "javascript-catalog",
    "set_language",
    "account_signup",
}
ARGUMENTS = {
    "group_id": "3G",
    "hit_id": "3H",
    "pk": "1",
    "customer_id": "A1",
    "type_id": "3Q",
    "token": "t",
    "secret": "s",
}


def names():
    for pattern in get_resolver("marketplace.urls").url_patterns:
        if getattr(pattern, "name", None):
            yield pattern.name, str(pattern.pattern)


def path_of(pattern):
    import re

    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: ARGUMENTS[match[1]], pattern)


@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*pair, id=pair[0]) for pair in names()])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_visitor_is_sent_to_the_login(site, name, pattern, method):
    answer = getattr(Client(), method)(path_of(pattern), headers=HOST)
    if name in PUBLIC:
        assert answer.status_code in (200, 400, 403, 404, 405), answer.status_code
    else:
        assert answer.status_code in (302, 405)
        assert answer.status_code == 405 or answer["Location"].startswith("/account/login/")


@pytest.mark.parametrize("name", ["work", "work-state", "work-next", "work-return"])
def test_another_workers_assignment_is_nowhere(lab, make_worker, name):
    mine = accept(make_worker("a"), lab.hit())
    client = Client()
    client.force_login(make_worker("b"))
    paths = {"work": "", "work-state": "state/", "work-next": "next/", "work-return": "return/"}
    method = client.post if name in ("work-next", "work-return") else client.get
    assert method(f"/work/{mine.pk}/{paths[name]}", headers=HOST).status_code == 404
    mine.refresh_from_db()
    assert mine.state == "Accepted"


def test_who_has_not_agreed_sees_the_terms_first(lab, make_worker):
    client = Client()
    client.force_login(make_worker("new", agreed_at=None))
    answer = client.get("/work/", headers=HOST)
    assert (answer.status_code, answer["Location"]) == (302, "/welcome/")
    assert client.post("/welcome/", headers=HOST)["Location"] == "/"
    assert client.get("/work/", headers=HOST).status_code == 200


def test_forms_need_their_token(lab, worker):
    client = Client(enforce_csrf_checks=True)
    client.force_login(worker)
    hit = lab.hit()
    assert client.post(f"/hits/{hit['HITId']}/accept/", headers=HOST).status_code == 403
    assert not worker.assignments.exists()


def test_sign_up_is_closed_but_for_an_invitation_and_its_uses(site, settings, now):
    settings.MARKETPLACE_OPEN_SIGNUP = False
    form = {"email": "a@example.org", "password1": "correct horse battery", "password2": "correct horse battery"}
    assert 'name="email"' not in Client().get("/account/signup/", headers=HOST).content.decode()
    Client().post("/account/signup/", form, headers=HOST)
    assert not Worker.objects.exists()
    token = invitation_create(uses=1, days=1, note="", now=now)
    assert token not in str(SignupInvitation.objects.values())
    first, second = Client(), Client()
    for client in (first, second):
        assert client.get(f"/join/{token}/", headers=HOST)["Location"] == "/account/signup/"
    first.post("/account/signup/", form, headers=HOST)
    second.post("/account/signup/", form | {"email": "b@example.org"}, headers=HOST)
    assert list(Worker.objects.values_list("email", flat=True)) == ["a@example.org"]
    assert Client().get(f"/join/{token}/", headers=HOST).status_code == 404
    old = invitation_create(uses=1, days=1, note="", now=now - timedelta(days=2))
    assert Client().get(f"/join/{old}/", headers=HOST).status_code == 404


def test_too_many_pages_are_told_to_slow_down(lab, worker, settings):
    settings.MARKETPLACE_WORKER_RATE = 0.2
    client = Client()
    client.force_login(worker)
    assert 429 in [client.get("/messages/", headers=HOST).status_code for _ in range(4)]


def test_the_list_costs_the_same_with_ten_times_the_hits(lab, worker, django_assert_max_num_queries):
    client = Client()
    client.force_login(worker)
    for number in range(3):
        lab.hit(Title=f"t{number}", MaxAssignments=1)
    with django_assert_max_num_queries(40) as few:
        client.get("/", headers=HOST)
    for number in range(27):
        lab.hit(Title=f"t{number % 3}", MaxAssignments=1)
    with django_assert_max_num_queries(40) as many:
        client.get("/", headers=HOST)
    assert len(many) == len(few)


def test_filters_search_and_order(lab, make_worker):
    worker = make_worker("w", country="FR")
    german = [
        {"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "DE"}]}
    ]
    lab.hit(Title="Cheap ports", Reward="0.01")
    lab.hit(Title="Dear ports", Reward="2.00", AssignmentDurationInSeconds=30)
    lab.hit(Title="German ports", Reward="1.00", QualificationRequirements=german)
    hidden = [{**german[0], "ActionsGuarded": "DiscoverPreviewAndAccept"}]
    lab.hit(Title="Hidden ports", QualificationRequirements=hidden)
    done = lab.hit(Title="Done ports", MaxAssignments=2)
    do(worker, done)
    client = Client()
    client.force_login(worker)

    def titles(query=""):
        import re

        return re.findall(r"<h2><a[^>]*>(.*?)</a>", client.get(f"/{query}", headers=HOST).content.decode())

    assert titles() == ["German ports", "Dear ports", "Cheap ports"]
    assert titles("?sort=reward") == ["Dear ports", "German ports", "Cheap ports"]
    assert titles("?sort=short")[0] == "Dear ports"
    assert titles("?least=0.5") == ["German ports", "Dear ports"]
    assert titles("?qualified=1") == ["Dear ports", "Cheap ports"]
    assert titles("?q=german+lab") == ["German ports"]
    assert titles("?sort=bogus&least=NaN&page=-1") == ["German ports", "Dear ports", "Cheap ports"]
    lab.client.create_worker_block(WorkerId=worker.worker_id, Reason="x")
    assert titles() == []


def test_a_hit_that_may_not_be_previewed_shows_no_frame(lab, worker):
    needs = [
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThan",
            "IntegerValues": [5000],
            "ActionsGuarded": "PreviewAndAccept",
        }
    ]
    hit = lab.hit(QualificationRequirements=needs)
    client = Client()
    client.force_login(worker)
    page = client.get(f"/hits/{hit['HITId']}/", headers=HOST).content.decode()
    assert "<iframe" not in page
    assert HIT["Title"] in page


def test_hits_that_a_worker_may_not_see_hide_no_others(lab, worker):
    from marketplace import selectors

    lab.hit(Title="Open to all")
    hidden = [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "EqualTo",
            "LocaleValues": [{"Country": "DE"}],
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
    ]
    for number in range(selectors._CHUNK + 5):
        lab.hit(Title=f"Hidden {number}", QualificationRequirements=hidden, MaxAssignments=1, Reward="0.01")
    client = Client()
    client.force_login(worker)
    assert "Open to all" in client.get("/", headers=HOST).content.decode()


def test_who_names_an_address_first_keeps_its_owner_from_nothing(site, settings, mailoutbox):
    settings.MARKETPLACE_OPEN_SIGNUP = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
    cache.clear()
    owner, thief = Client(), Client()
    for client, password in ((owner, "correct horse battery"), (thief, "thief's password 1")):
        form = {"email": "owner@example.org", "password1": password, "password2": password}
        client.post("/account/signup/", form, headers=HOST)
    code = re.search(r"^[A-Z0-9-]{6,9}$", mailoutbox[0].body, re.MULTILINE).group()
    owner.post("/account/confirm-email/", {"code": code}, headers=HOST)
    cache.clear()
    worker = Worker.objects.get(email="owner@example.org")
    assert owner.session["_auth_user_id"] == str(worker.pk)
    assert worker.check_password("correct horse battery")


def test_what_was_previewed_is_accepted_at_the_reward_that_was_shown(lab, worker):
    hit = lab.hit(Reward="0.50", MaxAssignments=1)
    client = Client()
    client.force_login(worker)
    page = client.get(f"/hits/{hit['HITId']}/", headers=HOST).content.decode()
    [seen] = re.findall(r'name="group" value="(\w+)"', page)
    cheap = lab.client.create_hit_type(AssignmentDurationInSeconds=600, Reward="0.01", Title="t", Description="d")[
        "HITTypeId"
    ]
    lab.client.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=cheap)
    answer = client.post(f"/hits/{hit['HITId']}/accept/", {"group": seen}, headers=HOST, follow=True)
    assert "terms of this HIT have changed" in answer.content.decode() and "0.01" in answer.content.decode()
    assert not Assignment.objects.exists()
    [now] = re.findall(r'name="group" value="(\w+)"', answer.content.decode())
    client.post(f"/hits/{hit['HITId']}/accept/", {"group": now}, headers=HOST)
    assert Assignment.objects.get().reward == Decimal("0.01")
