"""Roles that exclude each other, who may change whose, and that everybody concerned is told."""

import json

import pytest
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Invitation, Membership, RoleWaiver, User
from accounts.services import (
    RoleRefused,
    invitation_accept,
    invitation_create,
    membership_grant,
    membership_revoke,
    role_waiver_grant,
    token_hash,
)
from annotation.people.services.withdrawal import participation_withdraw
from tests import factories
from tests.concurrency.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return factories.antique(items=2, n=1)


def member(campaign, role, **fields):
    person = factories.user(**fields)
    factories.join(campaign, person, role)
    return person


def revoke(client, campaign, person):
    membership = Membership.objects.get(user=person, scope_id=campaign.pk)
    return client.post(reverse("membership-revoke", args=[campaign.slug, membership.pk])).status_code


def test_a_manager_removes_who_works_and_nobody_who_manages_or_takes_data_out(client, campaign):
    boss = member(campaign, "manager")
    client.force_login(boss)
    for role, expected in (("manager", 404), ("researcher", 404), ("annotator", 302), ("expert", 302)):
        other = member(campaign, role)
        assert revoke(client, campaign, other) == expected, role
        assert Membership.objects.filter(user=other).exists() is (expected == 404)
    assert revoke(client, campaign, boss) == 404
    client.force_login(factories.user(is_admin=True))
    assert revoke(client, campaign, boss) == 302


def test_removing_a_person_asks_first_and_says_what_was_done(client, campaign):
    boss, other = member(campaign, "manager"), member(campaign, "expert")
    client.force_login(boss)
    page = client.get(reverse("campaign-people", args=[campaign.slug])).content.decode()
    assert "Yes, remove" in page
    assert f"{other.name} will lose the role Expert in this campaign and be notified by email." in page
    revoke(client, campaign, other)
    after = client.get(reverse("campaign-people", args=[campaign.slug])).content.decode()
    assert f"{other.name} no longer has the role “Expert”. To restore it, send a new invitation." in after


def test_a_manager_withdraws_invitations_of_who_works_and_no_others(client, campaign):
    boss, admin = member(campaign, "manager"), factories.user(is_admin=True)
    client.force_login(boss)
    for role, expected in (("manager", 404), ("researcher", 404), ("annotator", 302)):
        invitation_create(
            scope_id=campaign.pk, role=role, uses=2, days=1, note="", actor_id=admin.surrogate_id, now=timezone.now()
        )
        invitation = Invitation.objects.get(role=role)
        address = reverse("invitation-withdraw", args=[campaign.slug, invitation.pk])
        assert (address in client.get(reverse("campaign-people", args=[campaign.slug])).text) is (expected == 302)
        assert client.post(address).status_code == expected
        invitation.refresh_from_db()
        assert invitation.uses_left == (0 if expected == 302 else 2)


@pytest.mark.parametrize("role", ["annotator", "expert"])
def test_a_manager_cannot_become_annotator_or_expert_of_the_campaign(client, campaign, role):
    boss = member(campaign, "manager")
    client.force_login(boss)
    client.post(reverse("campaign-people", args=[campaign.slug]), {"role": role, "uses": 2, "days": 1, "note": ""})
    Invitation.objects.all().delete()
    token = invitation_create(
        scope_id=campaign.pk, role=role, uses=2, days=1, note="", actor_id=boss.surrogate_id, now=timezone.now()
    )
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("invitation-accept"))
    assert not Membership.objects.filter(user=boss, role=role).exists()
    assert Invitation.objects.get().uses_left == 2  # nothing is half done
    with pytest.raises(RoleRefused), transaction.atomic():
        membership_grant(
            user=member(campaign, role), scope_id=campaign.pk, role="manager", actor_id=None, now=timezone.now()
        )


def test_an_administrator_may_waive_that_with_a_reason_which_releases_print(client, campaign, tmp_path):
    boss = member(campaign, "manager")
    membership = boss.memberships.get()
    address = reverse("role-waive", args=[campaign.slug, membership.pk])
    client.force_login(boss)
    assert client.post(address, {"reason": "I like it"}).status_code == 404
    client.force_login(factories.user(is_admin=True))
    client.post(address, {"reason": " "})
    assert not RoleWaiver.objects.exists()
    client.post(address, {"reason": "A lab of two people."})
    assert AuditEvent.objects.filter(action="role_waiver_grant", scope_id=campaign.pk).count() == 1
    factories.join(campaign, boss, "expert")
    page = client.get(reverse("campaign-people", args=[campaign.slug])).content.decode()
    assert "A lab of two people." in page
    call_command("release", campaign.slug, "--format", "labels", "--to", str(tmp_path))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["role_waivers"] == [{"reason": "A lab of two people.", "on": timezone.now().date().isoformat()}]
    assert boss.email not in json.dumps(manifest)


def test_known_answers_are_listed_for_those_alone_who_see_all_answers(client):
    campaign = factories.antique(items=2, n=1, gold=3)
    gold = campaign.items.filter(batch__purpose="gold").first()
    for role, shown in (("expert", False), ("researcher", False), ("manager", True)):
        client.force_login(member(campaign, role))
        pages = [
            client.get(f"/campaigns/{campaign.slug}/items/", query).content.decode()
            for query in ({}, {"split": gold.split.name}, {"q": gold.content["question_text"]})
        ]
        assert any(gold.external_id in page or f">{gold.split.name}<" in page for page in pages) is shown, role


def test_a_researcher_does_not_annotate_what_they_may_download(campaign):
    with pytest.raises(RoleRefused):
        factories.join(campaign, member(campaign, "researcher"), "annotator")


@pytest.mark.parametrize("roles", [("researcher", "expert"), ("expert", "researcher")])
def test_a_researcher_does_not_judge_what_they_may_download(campaign, roles):
    with pytest.raises(RoleRefused):
        factories.join(campaign, member(campaign, roles[0]), roles[1])


def test_an_administrator_judges_by_the_role_alone(client, campaign):
    boss = factories.user(is_admin=True)
    client.force_login(boss)
    cases = reverse("quality-cases", args=[campaign.slug])
    assert (client.get(cases).status_code, client.post(cases, {"case": 1, "label": 1}).status_code) == (404, 404)
    role_waiver_grant(
        user=boss, scope_id=campaign.pk, reason="a lab of one", actor_id=boss.surrogate_id, now=timezone.now()
    )
    factories.join(campaign, boss, "expert")
    assert client.get(cases).status_code == 200


def test_who_managed_once_does_not_let_themselves_in_again(client, campaign):
    boss = member(campaign, "manager")
    token = invitation_create(
        scope_id=campaign.pk, role="expert", uses=5, days=7, note="", actor_id=boss.surrogate_id, now=timezone.now()
    )
    admin = factories.user(is_admin=True)
    membership_revoke(
        membership_id=boss.memberships.get().pk, scope_id=campaign.pk, actor_id=admin.surrogate_id, now=timezone.now()
    )
    client.force_login(boss)
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("invitation-accept"))
    assert not boss.memberships.exists()


@pytest.mark.parametrize("before", ["manager", "researcher", "expert"])
def test_who_saw_the_answers_once_does_not_annotate_later(campaign, before):
    person, admin = member(campaign, before), factories.user(is_admin=True)
    membership_revoke(
        membership_id=person.memberships.get().pk, scope_id=campaign.pk, actor_id=admin.surrogate_id, now=timezone.now()
    )
    with pytest.raises(RoleRefused, match="can't combine"):
        factories.join(campaign, person, "annotator")
    factories.join(campaign, person, before)
    other = factories.antique(items=1, n=1)
    factories.join(other, person, "annotator")
    role_waiver_grant(
        user=person, scope_id=campaign.pk, reason="a lab of two", actor_id=admin.surrogate_id, now=timezone.now()
    )
    factories.join(campaign, person, "annotator")


def test_who_annotated_or_left_judges_nothing_there(campaign, now):
    person = member(campaign, "annotator")
    with pytest.raises(RoleRefused):
        factories.join(campaign, person, "expert")
    participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert not person.memberships.exists()
    with pytest.raises(RoleRefused, match="can't combine"):
        factories.join(campaign, person, "expert")
    factories.join(campaign, person, "annotator")


def test_an_administrator_who_sees_everything_annotates_nowhere_without_a_waiver(campaign):
    with pytest.raises(RoleRefused):
        factories.join(campaign, factories.user(is_admin=True), "annotator")


def test_who_annotated_once_may_manage_later(campaign):
    person, admin = member(campaign, "annotator"), factories.user(is_admin=True)
    membership_revoke(
        membership_id=person.memberships.get().pk, scope_id=campaign.pk, actor_id=admin.surrogate_id, now=timezone.now()
    )
    factories.join(campaign, person, "manager")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_roles_that_exclude_each_other_one_is_given_however_close_they_are_accepted(campaign):
    for number in range(8):
        person = factories.user(f"p{number}")

        def join(role, person=person):
            try:
                with transaction.atomic():
                    membership_grant(user=person, scope_id=campaign.pk, role=role, actor_id=None, now=timezone.now())
            except RoleRefused:
                return 0
            return 1

        assert sum(at_once([lambda: join("annotator"), lambda: join("researcher")])) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["annotator", "expert"])
def test_an_account_is_erased_from_its_page_and_its_owner_is_known_when_they_come_back(client, role):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    email, surrogate = person.email, person.surrogate
    factories.annotate(campaign, person)
    client.force_login(person)
    assert client.post("/account/privacy/", {"confirm": email}).status_code == 302
    surrogate.refresh_from_db()
    assert surrogate.erased_at
    assert not User.objects.filter(email=email).exists()
    again = User.objects.create_user(email, None)
    with pytest.raises(RoleRefused, match="earlier account"):
        invitation_accept(
            token_sha256=token_hash(
                invitation_create(
                    scope_id=campaign.pk,
                    role=role,
                    uses=5,
                    days=7,
                    note="",
                    now=timezone.now(),
                    actor_id=factories.user(is_admin=True).surrogate_id,
                )
            ),
            user=again,
            now=timezone.now(),
        )
