"""Every route, every principal, every method: a route without a stated policy fails."""

import pytest
from django.test import Client
from django.utils import timezone

from jobs.ticks import tick
from tests.guards.world import World, routes

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
METHODS = ("get", "post", "put", "patch", "delete", "options", "trace")
SEE = {"manager", "expert", "researcher", "admin"}
MANAGE = {"manager", "admin"}
RELEASES = {"manager", "researcher", "admin"}
ALL = {"annotator", "expert", "manager", "researcher", "admin", "stranger", "foreign"}
NOBODY: set[str] = set()

# Name of the route: its methods, and who is let in. "public" needs no account: the address or the
# session says what may be seen, or there is nothing to hide.
POLICY: dict[str, tuple[str, set[str] | str]] = {
    **dict.fromkeys(("home", "privacy", "notifications"), ("get post", ALL)),
    "session": ("get", "public"),
    "home": ("get", ALL),
    "job": ("get post", MANAGE),
    **dict.fromkeys(("consent", "leave", "recent", "training", "work"), ("get post", {"annotator"})),
    "work-guidelines": ("get", SEE | {"annotator"}),
    **dict.fromkeys(("guidelines-read", "reserve", "undo"), ("post", {"annotator"})),
    "own-questions": ("get", {"annotator"}),
    # Of someone else's assignment nobody learns that it is there.
    **dict.fromkeys(("stage", "back", "draft", "submit", "skip", "report", "extend", "events"), ("post", NOBODY)),
    "campaign-new": ("get post", {"admin"}),
    "campaign-preview": ("post", {"admin"}),
    **dict.fromkeys(("campaign", "campaign-by-id", "campaign-search"), ("get", SEE)),
    "items": ("get", SEE - {"expert"}),  # gold keys are not on it
    **dict.fromkeys(("item", "pilot", "campaign-documents", "campaign-document"), ("get", MANAGE)),
    **dict.fromkeys(
        ("campaign-import", "campaign-settings", "campaign-guidelines", "campaign-people", "quality-workforces"),
        ("get post", MANAGE),
    ),
    **dict.fromkeys(
        (
            "campaign-launch",
            "campaign-schedule",
            "campaign-state",
            "campaign-extend",
            "membership-revoke",
            "invitation-withdraw",
            "item-retire",
            "items-selected",
            "campaign-jobs-retry",
            "question-answer",
            "faq-retire",
            "pilot-draw",
            "annotation-exclude",
            "annotation-restore",
            "panel-confirm",
            "quality-decide",
            "quality-ask",
            "split-seal",
            "campaign-webhook",
            "campaign-webhook-replay",
        ),
        ("post", MANAGE),
    ),
    **dict.fromkeys(
        (
            "quality",
            "quality-behaviour",
            "quality-chart",
            "quality-chart-csv",
            "quality-chart-svg",
            "quality-target",
            "quality-certificate-file",
            "quality-decisions",
            "approvals",
            "campaign-log",
            "campaign-jobs",
        ),
        ("get", MANAGE),
    ),
    **dict.fromkeys(("role-waive", "split-unseal"), ("post", {"admin"})),
    **dict.fromkeys(
        (
            "quality-inspect",
            "quality-gold",
            "quality-gold-key",
            "quality-audits",
            "quality-certificates",
            "quality-experts",
            "campaign-questions",
            "quality-people",
            "quality-person",
            "quality-policy",
            "quality-rules",
            "quality-study-design",
            "campaign-plan",
            "campaign-webhooks",
        ),
        ("get post", MANAGE),
    ),
    # A case shows what was said to those who judged it, and to nobody else.
    **dict.fromkeys(("quality-cases", "quality-case"), ("get post", {"expert"})),
    "quality-standing": ("get post", {"annotator"}),
    **dict.fromkeys(("quality-studies", "quality-studies-json"), ("get", RELEASES)),
    **dict.fromkeys(("releases", "boards", "systems"), ("get post", RELEASES)),
    **dict.fromkeys(("release", "board"), ("get", RELEASES)),
    **dict.fromkeys(("board-team", "board-submit"), ("post", RELEASES)),
    **dict.fromkeys(("release-file", "release-all"), ("get", {"researcher", "admin"})),
    "release-score": ("get post", {"researcher", "admin"}),
    "release-publish": ("post", {"researcher", "admin"}),
    "release-write": ("post", {"researcher", "admin"}),
    # The address lets anyone in who has it: it holds a key that nobody can guess, or a signed token that names one visit or one ticket.
    **dict.fromkeys(("hit", "join", "visit"), ("get", "public")),
    **dict.fromkeys(
        (
            "visit-agree",
            "visit-guidelines",
            "visit-learn",
            "visit-stage",
            "visit-back",
            "visit-draft",
            "visit-skip",
            "visit-events",
            "visit-submit",
        ),
        ("post", "public"),
    ),
    **dict.fromkeys(("statement", "statement-standing"), ("get post", "public")),
    "invitation": ("get", "public"),
    "invitation-accept": ("get post", "public"),
    # Signed by the provider, or by Prolific; one without a secret has no such address.
    **dict.fromkeys(("provided-access", "prolific-hook"), ("post", "public")),
    **dict.fromkeys(("api-description", "api-reference", "llms"), ("get", "public")),
    "api-tokens": ("get post", ALL),
    "api-token-revoke": ("post", NOBODY),  # there is no such token
    **dict.fromkeys(("alive", "metrics", "ready", "styleguide"), ("get", "public")),
    "javascript-catalog": ("get options", "public"),
    # Django's own: any method leads back to the page, and only POST changes the cookie.
    "set_language": ("get post put patch delete options trace", "public"),
}
REFUSED = (404, 403, 405)
ELSEWHERE = ("account/", "api/v1/", "^api/")  # allauth's own, and the operations of the API (`tests.api.test_matrix`)


def own_routes():
    return [(name, pattern) for name, pattern in routes() if name in POLICY or not pattern.startswith(ELSEWHERE)]


@pytest.fixture
def world(settings):
    settings.STYLEGUIDE = True
    tick(now=timezone.now())
    return World()


def test_every_route_has_a_policy():
    assert {name for name, _ in own_routes()} == set(POLICY)


# Those that differ most are asked in every run, the others in `make test-slow`.
OFTEN = {"nobody", "annotator", "manager", "foreign"}


@pytest.mark.parametrize(
    "principal",
    [pytest.param(one, marks=() if one in OFTEN else pytest.mark.slow) for one in ["nobody", *sorted(ALL)]],
)
def test_each_principal_gets_where_the_policy_says_and_no_further(world, principal):
    wrong = []
    client = Client()
    if principal != "nobody":
        client.force_login(world.people[principal])
    for name, pattern in own_routes():
        methods, allowed = POLICY[name]
        for method in METHODS:
            answer = getattr(client, method)(world.address(pattern))
            stated = method in methods.split()
            if not _fits(answer, stated=stated, allowed=allowed, principal=principal):
                wrong.append((name, method, principal, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def _fits(answer, *, stated, allowed, principal):
    is_led = answer.status_code == 302 and answer["Location"].startswith("/account/login/")
    sent_to_login = is_led or (answer.status_code, answer.get("X-Session")) == (401, "out")
    if not stated:
        return answer.status_code in REFUSED or sent_to_login
    if allowed == "public":
        return answer.status_code < 500
    if principal == "nobody":
        return sent_to_login or answer.status_code == 405
    if principal in allowed:
        # Let in: what is asked for may still be wrong (422, 409), over (410), or not there (404 of the thing itself).
        return answer.status_code < 500 and not sent_to_login and (answer.status_code != 404 or _names_nothing(answer))
    return answer.status_code in REFUSED


def _names_nothing(answer):
    """Return whether a 404 is about a batch, case or file that this bare request does not name."""
    return answer.request["PATH_INFO"].endswith(
        (
            "manifest.json",
            "/review/case/1/",
            "/waive/",
            "/launch/",
            "/schedule/",
            "/spot-checks/",
            "/cases/",
            "/systems/",
        )
    )
