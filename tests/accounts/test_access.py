"""Things that belong to others, invitations, and who may do what. The matrix of all routes: tests/guards."""

import uuid

import pytest
from django.urls import reverse

from accounts.models import Invitation, Role
from accounts.permissions import Action, can
from accounts.services import invitation_create
from annotation.models import Annotation
from exports.models import Release
from tests import factories
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db

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
    "panel-confirm",
}
ASSIGNMENT = {"stage", "back", "draft", "submit", "skip", "report", "extend", "events"}


@pytest.fixture
def world(client, now):
    campaign = factories.campaign(items=2)
    worker = factories.annotator(campaign)
    annotation = factories.annotate(campaign, worker)
    assignment = factories.claim(campaign, worker)
    actor_id = worker.surrogate_id
    invitation_create(scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=actor_id, now=now)
    codes = {"code_completed": "1", "code_screened_out": "2", "code_nothing_left": "3"}
    link = workforce_add(campaign=campaign, kind="link", terms=codes, actor_id=None, now=now)
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
        "item": [campaign.slug, annotation.item_id],
        "item-retire": [campaign.slug, annotation.item_id],
        "annotation-exclude": [campaign.slug, annotation.pk],
        "annotation-restore": [campaign.slug, annotation.pk],
        "membership-revoke": [campaign.slug, people["expert"].memberships.get().pk],
        "release": [campaign.slug, release.number],
        "invitation-withdraw": [campaign.slug, Invitation.objects.get().pk],
        "panel-confirm": [campaign.slug, link.pk],
        **{name: [assignment.pk] for name in ASSIGNMENT},
    }
    return campaign, people, arguments


def address(name, campaign, arguments):
    return reverse(name, args=arguments.get(name, [campaign.slug]))


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


def test_someone_who_was_removed_cannot_go_on(world, client, now):
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
    again = client.post(reverse("invitation-accept"))
    assert again.status_code == 410
    assert "You've already used this invitation" in again.content.decode()
    assert not can(guest, Action.ANNOTATE, campaign.pk)
    Invitation.objects.update(uses_left=0)
    assert client.get(reverse("invitation", args=[token]), follow=True).status_code == 410


def test_signing_up_takes_an_invitation(client, now):
    campaign = factories.campaign()
    assert b"You need an invitation to create an account" in client.get("/account/signup/").content
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
    assert client.get(reverse("home")).context["work"][0].campaign == campaign


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
    Job.objects.filter(pk=job.pk).update(requested_by=people["stranger"].surrogate)  # who managed it once
    client.force_login(people["stranger"])
    assert client.get(reverse("job", args=[job.pk])).status_code == 404
    Job.objects.filter(pk=job.pk).update(state="running", finished_at=None)
    for role, expected in (("annotator", "running"), ("stranger", "running"), ("manager", "failed")):
        client.force_login(people[role])
        client.post(reverse("job", args=[job.pk]), {"stop": ""})
        job.refresh_from_db()
        assert job.state == expected
