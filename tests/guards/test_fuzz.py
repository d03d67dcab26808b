"""Nonsense in every parameter of every route: an answer, never a failure of the server."""

import itertools
import random
import re

import pytest
from django.test import Client

from tests.conftest import ROOT
from tests.guards.test_matrix import POLICY, own_routes
from tests.guards.world import World, address, parameters
from tests.workforces.acts import path, text_of, visit_of

pytestmark = pytest.mark.django_db

slow = pytest.mark.slow
HUGE = "9" * 5000
NONSENSE = [
    "",
    "0",
    "-1",
    "1",
    "2147483648",
    "9223372036854775808",
    "-9223372036854775809",
    HUGE,
    "1e309",
    "NaN",
    "٣",
    "²",
    "0x10",
    "00000000-0000-0000-0000-000000000000",
    "2026-02-30T25:61",
    "9999-12-31T23:59",
    "0001-01-01",
    "a" * 10_000,
    "\x01",
    "é\u202e🎈",
    "'\"><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "../../etc/passwd",
    "[1, 2",
    '{"a": ' * 2000,
    "%00",
    "null",
    "true",
]
APPS = ("accounts", "annotation", "api", "console", "exports", "jobs", "quality", "workforces")
ARRIVAL = [
    "assignmentId",
    "hitId",
    "workerId",
    "turkSubmitTo",
    "quorateSignature",
    "quorateExpires",
    "PROLIFIC_PID",
    "SESSION_ID",
]


def field_names() -> list[str]:
    """Return the names of all fields and parameters that the code reads, and of all fields of its forms."""
    found = set(ARRIVAL)
    for app in APPS:
        for file in (ROOT / app).rglob("*.py"):
            text = file.read_text()
            found |= set(re.findall(r"""(?:GET|POST|sent|query)(?:\.get(?:list)?\(|\[)"(\w+)\"""", text))
            found |= set(re.findall(r"^    (\w+) = forms\.", text, re.MULTILINE))
    return sorted(found)


FIELDS = field_names()
PARTS = {
    "int": ["0", "1", "2147483648", "9223372036854775808", "9" * 400, HUGE],
    "uuid": ["00000000-0000-0000-0000-000000000000"],
    "slug": ["x", "a" * 3000, "-", "%00"],
    "str": ["x", "a" * 3000, "%00", "é🎈", "..", "t:1:x", HUGE],
    "path": ["x", "../../etc/passwd", "%2e%2e/x", "a" * 3000, "%00"],
}


def bodies(seed: int, count: int):
    """Yield forms in which every field holds every piece of nonsense at least once over the run."""
    draw = random.Random(seed)
    for number in range(count):
        yield {name: NONSENSE[(number + shift) % len(NONSENSE)] for shift, name in enumerate(draw.sample(FIELDS, 40))}


def failures(client: Client, url: str, form: dict[str, str]):
    """Yield what goes wrong when an address is asked with a form in its query and in its body."""
    for method, data, headers in (
        ("get", form, {}),
        ("post", form, {}),
        ("post", form, {"HX-Request": "true"}),
    ):
        answer = getattr(client, method)(url, data, headers=headers)
        if answer.status_code >= 500 and not url.startswith("/readyz"):
            yield method, url[:100], answer.status_code


def addresses(world: World):
    """Yield (name, address) of all routes: with what exists, and with each parameter replaced by nonsense."""
    for name, pattern in own_routes():
        yield name, world.address(pattern)
        for part in parameters(pattern):
            converter, _, key = part.rpartition(":")
            for value in PARTS[converter or "str"]:
                yield name, address(pattern, {**world.values, key: value})


@pytest.fixture
def world(client):
    client.raise_request_exception = False
    return World()


@slow
@pytest.mark.parametrize("who", ["admin", "manager", "annotator"])
def test_no_parameter_of_any_route_makes_the_server_fail(world, client, who):
    client.force_login(world.people[who])
    forms = itertools.cycle(bodies(7, 60))
    wrong = [(name, *failure) for name, url in addresses(world) for failure in failures(client, url, next(forms))]
    assert not wrong, "\n".join(map(str, wrong))


@slow
@pytest.mark.parametrize("who", ["admin", "annotator"])
def test_each_piece_of_nonsense_in_each_form(world, client, who):
    """The routes that take forms, many times over."""
    client.force_login(world.people[who])
    wrong = []
    for name, pattern in own_routes():
        if "post" in POLICY[name][0].split() and POLICY[name][1] != "public":
            for form in bodies(sum(map(ord, name)), 12):
                wrong += [(name, *failure) for failure in failures(client, world.address(pattern), form)]
    assert not wrong, "\n".join(map(str, wrong))


@slow
def test_nonsense_within_a_visit_and_on_a_live_assignment(world, client):
    page = client.get(world.signed_link, follow=True)
    client.post(path(page, "agree"), {"text": text_of(page)})
    page = client.get(visit_of(page), follow=True)
    where = visit_of(page)
    item = path(page, "answer").removesuffix("answer/")
    urls = [
        where,
        f"{where}agree/",
        f"{where}learn/",
        *(f"{item}{what}/" for what in "answer back draft skip events".split()),
    ]
    wrong = []
    for url in urls:
        for form in bodies(3, 12):
            wrong += failures(client, url, form)
        for raw in (
            b"",
            b"\x00\xff",
            b"[" * 5000,
            b'{"sequence": 1e400, "events": [[1]]}',
            b'{"sequence": ' + HUGE.encode() + b"}",
        ):
            answer = client.post(url, raw, content_type="application/json")
            wrong += [(url[-30:], answer.status_code)] if answer.status_code >= 500 else []
    assert not wrong, "\n".join(map(str, wrong))
    owner = Client(raise_request_exception=False)
    owner.force_login(world.assignment.surrogate.user)
    for what in "stage back draft submit skip report extend events".split():
        for form in bodies(5, 12):
            wrong += failures(owner, f"/assignments/{world.assignment.pk}/{what}/", form)
    assert not wrong, "\n".join(map(str, wrong))


def test_nonsense_at_the_doors(world, client, settings):
    settings.MTURK_SUBMIT_URLS = ["https://work.example"]
    wrong = []
    for value, name in itertools.product(
        NONSENSE, ("PROLIFIC_PID", "SESSION_ID", "quorateSignature", "quorateExpires")
    ):
        query = {"PROLIFIC_PID": "p", "SESSION_ID": "s", "quorateSignature": "x", "quorateExpires": "1", name: value}
        wrong += failures(client, world.link.path, query)
    for value in NONSENSE:
        answer = client.get(
            world.link.path, {value: value}, headers={"Accept-Language": value.replace("\x00", "")[:4000]}
        )
        wrong += [(value, answer.status_code)] if answer.status_code >= 500 else []
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("who", ["admin", None])
def test_no_view_ever_sees_nul_or_an_encoding_that_is_none_of_text(world, client, who):
    """On every route, in an address and in both kinds of forms."""
    if who:
        client.force_login(world.people[who])
    for name, pattern in own_routes():
        address = world.address(pattern)
        for method in POLICY[name][0].split():
            if method == "get":
                assert client.get(address, {"q": "a\x00"}).status_code == 400, name
            if method == "post":
                assert client.post(address, {"note": "a\x00"}).status_code == 400, name
                assert client.generic("POST", address, b"a=%00", "application/x-www-form-urlencoded").status_code == 400
                for encoding in ("rot13", "idna", "undefined"):
                    kind = f"application/x-www-form-urlencoded; charset={encoding}"
                    assert client.generic("POST", address, b"a=1", kind).status_code == 400, (name, encoding)


def test_numbers_times_and_texts_beyond_all_bounds_are_errors_of_a_form(world, client):
    client.force_login(world.people["admin"])
    page = f"/campaigns/{world.campaign.slug}"
    release = {"family": "labels", "shards": "1", "seed": "9" * 30}
    assert client.post(f"{page}/releases/", release).status_code in (200, 422)
    assert client.post(f"{page}/guidelines/", {"body": "a" * 100_001}).status_code in (200, 422)
    for at in ("2030-01-01T00:00-23:59", "9999-12-31T23:59", "0001-01-01T00:00+23:59"):
        assert client.post(f"{page}/schedule/", {"batch": "1", "at": at}).status_code == 302, at


def test_a_session_cookie_that_spells_nul_is_no_session(client):
    """A quoted cookie can spell any byte in octal."""
    answer = client.get("/", headers={"Cookie": 'quorate_session="\\000\\000bcdefghijkl"'})
    assert answer.status_code == 302 and answer["Location"].startswith("/account/login/")
