"""No state changes by a form of another site: every route that takes POST refuses one without the token."""

import pytest
from django.test import Client

from tests.guards.test_matrix import POLICY
from tests.guards.world import World, routes

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
# Their address itself is the proof: signed, unguessable, and shown to one person. They work without any cookie, so
# there is nothing that a browser would send along by itself.
BY_ADDRESS = {
    "visit-agree",
    "visit-guidelines",
    "visit-learn",
    "visit-stage",
    "visit-back",
    "visit-draft",
    "visit-skip",
    "visit-events",
    "visit-submit",
}

# Signed by a login provider or by Prolific, and sent by its server or through a browser that has no token of ours.
BY_SIGNATURE = {"prolific-hook", "provided-access", "saml_acs", "saml_sls"}


def posts():
    for name, pattern in routes():
        if pattern.startswith(("api/v1/", "^api/")):
            continue  # a token in a header, which no other site can make a browser send
        if pattern.startswith("account/") or "post" in POLICY[name][0].split():
            yield name, pattern


@pytest.mark.parametrize("who", ["admin", "manager", "annotator", "nobody"])
def test_every_form_needs_its_token(who):
    world = World()
    client = Client(enforce_csrf_checks=True, headers={"host": "127.0.0.1"})
    if who != "nobody":
        client.force_login(world.people[who])
    wrong = []
    for name, pattern in posts():
        answer = client.post(
            world.address(pattern, key="3-t") if "uidb36" in pattern else world.address(pattern), {"x": "1"}
        )
        if name in BY_ADDRESS:
            fits = answer.status_code == 403 and "X-Session" not in answer  # the token "t" is not signed
        elif name in BY_SIGNATURE:
            fits = answer.status_code in (302, 401, 404) and "X-Session" not in answer
        else:
            # 405: the route takes no POST at all.
            fits = answer.status_code == 405 or (answer.status_code, answer.get("X-Session")) in (
                (401, "out"),
                (403, "token"),
            )
        if not fits:
            wrong.append((name, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))
