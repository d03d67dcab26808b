"""The standing guards of the marketplace: every route has a policy, forms need their token, nonsense gets an answer."""

import random

import pytest
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import URLPattern

from tests.marketplace.acts import accept
from tests.marketplace.test_access import ARGUMENTS

pytestmark = pytest.mark.django_db(transaction=True)
HOST = {"host": "worker.localhost"}
METHODS = ("get", "post", "put", "patch", "delete", "options", "trace")
# Name of the route: its methods, and whether it takes an account.
POLICY = {
    "home": ("get post", "public"),  # POST is the requester API: signed, and answered in its own terms
    "healthz": ("get", "public"),
    "metrics": ("get", "public"),
    "readyz": ("get", "public"),
    "accept-next": ("post", "worker"),
    "preview": ("get", "worker"),
    "accept": ("post", "worker"),
    "work-mine": ("get", "worker"),
    "work": ("get post", "worker"),
    "work-state": ("get", "worker"),
    "work-next": ("post", "worker"),
    "work-return": ("post", "worker"),
    "earnings": ("get", "worker"),
    "requesters": ("get", "worker"),
    "requester": ("get", "worker"),
    "qualifications": ("get", "worker"),
    "qualification": ("get post", "worker"),
    "messages": ("get", "worker"),
    "profile": ("get post", "worker"),
    "welcome": ("get post", "worker"),
    "join": ("get", "public"),
    "external-submit": ("post", "public"),  # the secret in its address belongs to one assignment
    "helper-script": ("get", "public"),
    "content": ("get", "public"),
    "javascript-catalog": ("get options", "public"),
    "set_language": ("get post put patch delete options trace", "public"),
}
WITHOUT_TOKEN = {"home", "external-submit"}
HUGE = "9" * 5000
NONSENSE = [
    "",
    "0",
    "-1",
    "9223372036854775808",
    HUGE,
    "1e309",
    "٣",
    "²",
    "00000000-0000-0000-0000-000000000000",
    "a" * 10_000,
    "\x01",
    "é\u202e🎈",
    "'\"><script>alert(1)</script>",
    "../../etc/passwd",
    '{"a": ' * 2000,
    "%00",
    "null",
    "9999-12-31T23:59",
]
FIELDS = [
    "assignmentId",
    "answer",
    "q",
    "page",
    "before",
    "after",
    "sort",
    "reward",
    "group",
    "token",
    "next",
    "language",
    "email",
    "password1",
    "password2",
    "login",
    "password",
    "display_name",
    "country",
    "subdivision",
    "is_adult_content_ok",
    "pk",
    "reason",
    "turkSubmitTo",
    "workerId",
    "hitId",
    "qualified",
    "minimum",
    "minutes",
    "from",
    "to",
]
PARTS = {
    "int": ["0", "9223372036854775808", HUGE],
    "str": ["x", "a" * 3000, "%00", "é🎈", "..", HUGE],
}
PARTS["slug"] = PARTS["str"]


def routes():
    for one in get_resolver("marketplace.urls").url_patterns:
        found = (
            [one] if isinstance(one, URLPattern) else one.url_patterns if "allauth" not in str(one.urlconf_name) else []
        )
        prefix = "" if isinstance(one, URLPattern) else str(one.pattern)
        for pattern in found:
            if pattern.name == "account_signup":  # allauth's view with our form
                continue
            yield pattern.name, prefix + str(pattern.pattern)


def address(pattern, values):
    pieces = pattern.split("<")
    return (
        "/"
        + pieces[0]
        + "".join(str(values[piece.split(">")[0].rpartition(":")[2]]) + piece.split(">", 1)[1] for piece in pieces[1:])
    )


def client_of(worker=None, **options):
    client = Client(raise_request_exception=False, **options)
    if worker is not None:
        client.force_login(worker)
    return client


def test_every_route_has_a_policy():
    names = {name for name, _ in routes()}
    assert names <= set(POLICY), names - set(POLICY)


@pytest.mark.parametrize("who", ["nobody", "newcomer", "worker"])
def test_each_principal_gets_where_the_policy_says(site, worker, make_worker, who):
    principal = {"nobody": None, "newcomer": make_worker("new", agreed_at=None), "worker": worker}[who]
    client, wrong = client_of(principal), []
    for name, pattern in routes():
        methods, policy = POLICY[name]
        for method in METHODS:
            answer = getattr(client, method)(address(pattern, ARGUMENTS), headers=HOST)
            refused = answer.status_code in (403, 404, 405)
            elsewhere = answer.status_code == 302 and answer["Location"].startswith(("/account/login/", "/welcome/"))
            if method not in methods.split():
                fits = refused or elsewhere
            elif policy == "public" or who == "worker":
                fits = answer.status_code < 500
            else:
                fits = elsewhere or refused or name == "welcome"
            if not fits:
                wrong.append((name, method, who, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def test_every_form_needs_its_token(site, worker):
    client, wrong = client_of(worker, enforce_csrf_checks=True), []
    for name, pattern in routes():
        if "post" in POLICY[name][0].split() and name not in WITHOUT_TOKEN:
            answer = client.post(address(pattern, ARGUMENTS), headers=HOST)
            if answer.status_code != 403:
                wrong.append((name, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def test_a_form_of_a_worker_holds_text(site, worker):
    """But what an assignment or the API is sent is read as bytes, and answered as the protocol says."""
    client = client_of(worker)
    assert client.get("/", {"q": "a\x00"}, headers=HOST).status_code == 400
    for encoding in ("rot13", "idna", "undefined"):
        kind = f"application/x-www-form-urlencoded; charset={encoding}"
        assert client.generic("POST", "/profile/", b"a=1", kind, headers=HOST).status_code == 400
    for address in ("/", "/s/x/mturk/externalSubmit"):
        assert client.post(address, {"a": "\x00"}, headers=HOST).status_code in (403, 404)


def test_a_session_cookie_that_spells_nul_is_no_session(site):
    """A quoted cookie can spell any byte in octal."""
    headers = {**HOST, "Cookie": 'marketplace_session="\\000\\000bcdefghijkl"'}
    assert client_of().get("/work/", headers=headers).status_code == 302


@pytest.mark.slow
def test_nonsense_gets_an_answer(lab, worker):
    """In every parameter of every route, as a worker who has an assignment in hand."""
    hit = lab.hit()
    mine = accept(worker, hit)
    values = {**ARGUMENTS, "hit_id": hit["HITId"], "group_id": hit["HITGroupId"], "pk": mine.pk}
    client, wrong, draw = client_of(worker), [], random.Random(3)
    for name, pattern in routes():
        targets = [address(pattern, values)]
        for piece in pattern.split("<")[1:]:
            converter, _, key = piece.split(">")[0].rpartition(":")
            targets += [address(pattern, {**values, key: value}) for value in PARTS[converter or "str"]]
        for number, target in enumerate(targets):
            for turn in range(6 if number == 0 else 1):
                form = {
                    field: NONSENSE[(turn + shift) % len(NONSENSE)]
                    for shift, field in enumerate(draw.sample(FIELDS, 20))
                }
                for method in ("get", "post"):
                    answer = getattr(client, method)(target, form, headers=HOST)
                    if answer.status_code >= 500:
                        wrong.append((name, method, target[:80], answer.status_code))
    for raw in (b"", b"\x00\xff", b"[" * 5000, b"{" * 5000, HUGE.encode()):
        answer = client.post("/", raw, content_type="application/x-amz-json-1.1", headers=HOST)
        assert answer.status_code < 500
    assert not wrong, "\n".join(map(str, wrong))
