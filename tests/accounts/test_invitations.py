"""Invitations to named people: a mail each, for their address alone, at one domain if the campaign asks for it."""

import re
from smtplib import SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail.backends import locmem
from django.test import Client
from django.urls import reverse

from accounts.models import Invitation, Membership
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return factories.antique(items=1, n=1)


@pytest.fixture
def boss(campaign, client):
    person = factories.user()
    factories.join(campaign, person, "manager")
    client.force_login(person)
    return client


def invite(boss, campaign, addresses, callbacks, **more):
    mail.outbox.clear()
    sent = {"what": "named", "role": "annotator", "addresses": addresses, "days": "7", **more}
    with callbacks(execute=True):
        return boss.post(reverse("campaign-people", args=[campaign.slug]), sent, follow=True).content.decode()


def accept(person, address, ip="10.0.0.1"):
    client = Client(REMOTE_ADDR=ip)
    client.force_login(person)
    client.get(address)
    return client.post(reverse("invitation-accept"), follow=True).content.decode()


def link_of(message):
    return re.search(r"/invite/\S+", message.body).group()


def is_member(person, campaign):
    return Membership.objects.filter(user=person, scope_id=campaign.pk, role="annotator").exists()


def test_each_named_person_gets_a_mail_that_works_for_them_alone(boss, campaign, django_capture_on_commit_callbacks):
    ann, eve = factories.user("ann"), factories.user("eve")
    page = invite(
        boss, campaign, "ann@example.org, new@uni.example\nANN@example.org", django_capture_on_commit_callbacks
    )
    assert "2 people were invited" in page
    assert sorted(message.to[0].lower() for message in mail.outbox) == ["ann@example.org", "new@uni.example"]
    [link] = [link_of(message) for message in mail.outbox if message.to[0].lower() == "ann@example.org"]
    assert "another email address" in accept(eve, link)
    assert not is_member(eve, campaign)
    accept(ann, link)
    assert is_member(ann, campaign)
    assert Invitation.objects.filter(email__iexact="ann@example.org").get().uses_left == 0


def test_inviting_again_ends_the_earlier_invitation(boss, campaign, django_capture_on_commit_callbacks):
    ann = factories.user("ann")
    invite(boss, campaign, "ann@example.org", django_capture_on_commit_callbacks)
    first = link_of(mail.outbox[0])
    invite(boss, campaign, "ann@example.org", django_capture_on_commit_callbacks)
    accept(ann, first)
    assert not is_member(ann, campaign)
    accept(ann, link_of(mail.outbox[0]))
    assert is_member(ann, campaign)


class RefusesAnn(locmem.EmailBackend):
    """A mail server that takes mail for everybody but one."""

    def send_messages(self, messages):
        if any("ann@" in address for message in messages for address in message.to):
            raise SMTPRecipientsRefused({})
        return super().send_messages(messages)


def test_a_mail_that_is_refused_keeps_none_from_the_others(
    boss, campaign, settings, django_capture_on_commit_callbacks
):
    settings.EMAIL_BACKEND = f"{RefusesAnn.__module__}.{RefusesAnn.__qualname__}"
    page = invite(boss, campaign, "ann@example.org bob@example.org", django_capture_on_commit_callbacks)
    assert "2 people were invited" in page
    assert [message.to for message in mail.outbox] == [["bob@example.org"]]


@pytest.mark.parametrize("addresses", ["ann", "ann@example.org nonsense@", "a@b.example\r\nBcc: x@y.example"])
def test_what_is_no_address_is_named_and_nobody_is_invited(
    boss, campaign, addresses, django_capture_on_commit_callbacks
):
    page = invite(boss, campaign, addresses, django_capture_on_commit_callbacks)
    assert "invalid email addresses" in page
    assert not mail.outbox
    assert not Invitation.objects.exists()


def test_managers_invite_who_works_only(boss, campaign, django_capture_on_commit_callbacks):
    invite(boss, campaign, "ann@example.org", django_capture_on_commit_callbacks, role="researcher")
    assert not Invitation.objects.exists()


def test_a_campaign_may_ask_for_one_domain(boss, campaign):
    people = reverse("campaign-people", args=[campaign.slug])
    boss.post(people, {"what": "domain", "domain": "@Uni.Example"})
    page = boss.post(people, {"what": "link", "role": "annotator", "uses": 5, "days": 5, "note": ""}).content.decode()
    assert "Invitation for the role Annotator." in " ".join(page.split())
    link = re.search(r"/invite/[\w-]+/", page).group()
    outside, inside = factories.user("ann"), factories.user("bob")
    inside.email = "bob@uni.example"
    inside.save()
    assert "an email address at uni.example" in accept(outside, link)
    accept(inside, link)
    assert (is_member(outside, campaign), is_member(inside, campaign)) == (False, True)


def test_several_accounts_from_one_network_address_are_a_hint(boss, campaign):
    people = reverse("campaign-people", args=[campaign.slug])
    page = boss.post(people, {"what": "link", "role": "annotator", "uses": 5, "days": 5, "note": ""}).content.decode()
    link = re.search(r"/invite/[\w-]+/", page).group()
    for name, ip in (("ann", "10.0.0.7"), ("bob", "10.0.0.7"), ("cem", "10.0.0.8")):
        accept(factories.user(name), link, ip)
    page = boss.get(people).content.decode()
    assert page.count("2 people joined from this network address") == 2
    assert "10.0.0.7" not in page


def test_sign_up_does_not_tell_whose_address_has_an_account(boss, campaign, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"  # as in production
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
    factories.user("known")
    people = reverse("campaign-people", args=[campaign.slug])
    page = boss.post(people, {"what": "link", "role": "annotator", "uses": 5, "days": 5, "note": ""}).content.decode()
    link = re.search(r"/invite/[\w-]+/", page).group()
    answers = []
    for email in ("known@example.org", "nobody-yet@example.org"):
        client = Client()
        client.get(link)
        form = {"email": email, "password1": "correct horse battery", "password2": "correct horse battery"}
        answer = client.post("/account/signup/", form)
        answers.append((answer.status_code, answer["Location"]))
    assert answers[0] == answers[1] == (302, "/account/confirm-email/")
    assert {message.to[0] for message in mail.outbox} == {
        "known@example.org",
        "nobody-yet@example.org",
    }  # each is written to
