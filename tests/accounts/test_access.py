"""Who may go where: every address, every role, and things that belong to others."""

import uuid

import pytest
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern

from accounts.models import Invitation, Role
from accounts.permissions import Action, can
from accounts.services import invitation_create
from annotation.models import Annotation
from exports.models import Release
from tests import factories

pytestmark = pytest.mark.django_db

MANAGER = {"campaign-import", "campaign-guidelines", "campaign-people"}
MANAGER_POST = {
    "campaign-launch",
    "campaign-schedule",
    "campaign-state",
    "campaign-extend",
    "item-retire",
    "annotation-exclude",
    "annotation-restore",
    "membership-revoke",
    "invitation-withdraw",
}
SEE = {"campaign", "items"}
ANSWERS = {"item", "pilot"}
RELEASES = {"releases", "release"}
WORK = {"work", "consent", "leave", "training"}
# By a signed address, without an account: tests/workforces.
VISITS = {"hit", "join", "visit", *(f"visit-{what}" for what in "agree learn stage back draft skip events".split())}
# Of campaigns with a vote: tests/quality/test_pages.py.
QUALITY = {
    "quality", "quality-decisions", "quality-decide", "quality-inspect", "quality-cases", "quality-workforces",
    "approvals", "statement",
}  # fmt: skip
ASSIGNMENT = {"stage", "back", "draft", "submit", "skip", "report", "extend", "events"}
OPEN = {"alive", "ready", "styleguide", "javascript-catalog", "set_language", "invitation", "invitation-accept"}
ANYBODY_SIGNED_IN = {"home", "privacy"}
SPECIAL = {"job", "campaign-new", "work-guidelines", "reserve", "undo", "release-file"}


def own_names():
    """Return the names of all addresses that are ours."""
    found, todo = set(), list(get_resolver().url_patterns)
    while todo:
        pattern = todo.pop()
        if isinstance(pattern, URLPattern):
            found.add(pattern.name)
        elif "allauth" not in str(pattern.urlconf_name):
            todo += pattern.url_patterns
    return found


def test_every_address_is_in_this_matrix():
    known = (
        MANAGER
        | MANAGER_POST
        | SEE
        | ANSWERS
        | RELEASES
        | WORK
        | ASSIGNMENT
        | OPEN
        | ANYBODY_SIGNED_IN
        | SPECIAL
        | VISITS
        | QUALITY
    )
    assert own_names() == known


@pytest.fixture
def world(client, now):
    campaign = factories.campaign(items=2)
    worker = factories.annotator(campaign)
    annotation = factories.annotate(campaign, worker)
    assignment = factories.claim(campaign, worker)
    actor_id = worker.surrogate_id
    invitation_create(scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=actor_id, now=now)
    release = Release.objects.create(
        campaign=campaign,
        number=1,
        family="nq-original",
        ways=1,
        splits=["dev"],
        state="ready",
        manifest={"files": {}},
        created_at=now,
    )
    people = {role: factories.user() for role in [*Role.values, "stranger", "admin"]}
    for role in Role.values:
        factories.join(campaign, people[role], role)
    people["admin"].is_admin = True
    people["admin"].save()
    arguments = {
        "item": [campaign.slug, annotation.item_id], "item-retire": [campaign.slug, annotation.item_id],
        "annotation-exclude": [campaign.slug, annotation.pk], "annotation-restore": [campaign.slug, annotation.pk], "membership-revoke": [campaign.slug, people["expert"].memberships.get().pk],
        "release": [campaign.slug, release.number], "invitation-withdraw": [campaign.slug, Invitation.objects.get().pk],
        **{name: [assignment.pk] for name in ASSIGNMENT},
    }  # fmt: skip
    return campaign, people, arguments


def address(name, campaign, arguments):
    return reverse(name, args=arguments.get(name, [campaign.slug]))


ALLOWED = {
    **dict.fromkeys(MANAGER | MANAGER_POST, {"manager", "admin"}),
    **dict.fromkeys(SEE, {"manager", "expert", "researcher", "admin"}),
    **dict.fromkeys(ANSWERS, {"manager", "admin"}),
    **dict.fromkeys(RELEASES, {"manager", "researcher", "admin"}),
    **dict.fromkeys(WORK, {"annotator"}),
    **dict.fromkeys(ASSIGNMENT, set()),  # somebody else's assignment is nobody's
}


@pytest.mark.parametrize("role", [*Role.values, "stranger", "admin"])
def test_the_matrix(world, client, role):
    campaign, people, arguments = world
    client.force_login(people[role])
    for name, allowed in ALLOWED.items():
        url = address(name, campaign, arguments)
        method = client.post if name in MANAGER_POST | ASSIGNMENT else client.get
        status = method(url, {"batch": "1"} if method == client.post else {}).status_code
        if role in allowed:
            assert status in (200, 302), (name, role, status)
        else:
            assert status == 404, (name, role, status)


def test_nobody_gets_anywhere_without_logging_in(world, client):
    campaign, _, arguments = world
    for name in set(ALLOWED) | ANYBODY_SIGNED_IN:
        url = reverse(name) if name in ANYBODY_SIGNED_IN else address(name, campaign, arguments)
        for method in (client.get, client.post):
            response = method(url)
            assert response.status_code in (302, 405), (name, response.status_code)
            if response.status_code == 302:
                assert "/account/login/" in response["Location"]


def test_nothing_changes_on_get(world, client):
    campaign, people, arguments = world
    client.force_login(people["admin"])
    for name in MANAGER_POST | ASSIGNMENT | {"reserve", "undo"}:
        assert client.get(address(name, campaign, arguments)).status_code == 405, name


def test_things_of_another_campaign_do_not_exist_under_this_one(world, client):
    campaign, people, arguments = world
    other = factories.campaign(items=1)
    boss = factories.user()
    factories.join(other, boss, "manager")
    client.force_login(boss)
    for name in (
        "item",
        "item-retire",
        "annotation-exclude",
        "annotation-restore",
        "membership-revoke",
        "invitation-withdraw",
        "release",
    ):
        url = reverse(name, args=[other.slug, *arguments[name][1:]])
        method = client.post if name in MANAGER_POST else client.get
        assert method(url).status_code == 404, name
    assert Annotation.objects.get(pk=arguments["annotation-exclude"][1]).state == "counted"


def test_downloads_need_the_role_and_a_name_from_the_manifest(world, client):
    campaign, people, _ = world
    for role, expected in (("manager", 404), ("annotator", 404), ("expert", 404)):
        client.force_login(people[role])
        assert client.get(reverse("release-file", args=[campaign.slug, 1, "manifest.json"])).status_code == expected
    client.force_login(people["researcher"])
    for name in ("../../secret_key", "nq-dev-00.jsonl.gz", "/etc/passwd"):
        assert client.get(f"/campaigns/{campaign.slug}/releases/1/files/{name}").status_code == 404


def test_somebody_who_was_removed_cannot_go_on(world, client, now):
    campaign, people, _ = world
    person = factories.annotator(factories.campaign(items=3))
    assignment = factories.claim(_campaign_of(person), person)
    client.force_login(person)
    person.memberships.all().delete()
    for name in ASSIGNMENT:
        assert (
            client.post(
                reverse(name, args=[assignment.pk]), {"stage": "question", "label": "bad", "version": "0"}
            ).status_code
            == 404
        ), name


def _campaign_of(person):
    from annotation.models import Campaign

    return Campaign.objects.get(pk=person.memberships.get().scope_id)


def test_a_link_works_once_a_person_and_not_after_it_was_withdrawn(world, client, now):
    campaign, people, _ = world
    token = invitation_create(
        scope_id=campaign.pk,
        role="annotator",
        uses=9,
        days=1,
        note="",
        actor_id=people["manager"].surrogate_id,
        now=now,
    )
    guest = factories.user()
    client.force_login(guest)
    assert client.get(reverse("invitation", args=[token]), follow=True).status_code == 200
    client.post(reverse("invitation-accept"))
    assert can(guest, Action.ANNOTATE, campaign.pk)
    guest.memberships.all().delete()
    client.get(reverse("invitation", args=[token]))
    assert client.post(reverse("invitation-accept")).status_code == 410
    assert not can(guest, Action.ANNOTATE, campaign.pk)
    Invitation.objects.update(uses_left=0)
    assert client.get(reverse("invitation", args=[token]), follow=True).status_code == 410


def test_signing_up_takes_an_invitation(client, now):
    campaign = factories.campaign()
    assert b"Sign Up Closed" in client.get("/account/signup/").content
    boss = factories.user()
    token = invitation_create(
        scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=boss.surrogate_id, now=now
    )
    client.get(reverse("invitation", args=[token]))
    response = client.post(
        "/account/signup/",
        {"email": "new@example.org", "password1": "correct horse battery", "password2": "correct horse battery"},
    )
    assert response["Location"] == reverse("invitation-accept")
    client.post(reverse("invitation-accept"))
    assert client.get(reverse("home")).context["work"] == [campaign]


def test_managers_invite_annotators_and_experts_only(world, client):
    campaign, people, _ = world
    client.force_login(people["manager"])
    url = reverse("campaign-people", args=[campaign.slug])
    client.post(url, {"role": "researcher", "uses": 1, "days": 1})
    assert not Invitation.objects.filter(role="researcher").exists()
    client.post(url, {"role": "annotator", "uses": 1, "days": 1})
    assert Invitation.objects.filter(role="annotator").count() == 2


def test_a_job_is_seen_by_who_asked_for_it_and_by_managers(world, client):
    from jobs.models import Job

    campaign, people, _ = world
    job = Job.objects.filter(scope_id=campaign.pk).first()
    for role, expected in (("manager", 200), ("annotator", 404), ("stranger", 404), ("admin", 200)):
        client.force_login(people[role])
        assert client.get(reverse("job", args=[job.pk])).status_code == expected
    assert client.get(reverse("job", args=[uuid.uuid4()])).status_code == 404
