"""One mailbox is one annotator, with confirmed addresses as on an installation for many."""

import re
from datetime import timedelta

import pytest
from allauth.account.forms import SignupForm
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, Membership, Surrogate, User
from accounts.services import invitation_create, invitations_send
from accounts.tasks import sign_ups_forget
from tests import factories
from web.signups import MOST_NAMED, UNCONFIRMED

pytestmark = pytest.mark.django_db
PASSWORD = "Zx9!kkq-21"
OWN, OTHER = "eve@uni.example", "eve@elsewhere.example"


@pytest.fixture
def token(settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
    campaign, boss = factories.antique(items=1, n=3), factories.user(is_admin=True)
    yield invitation_create(
        scope_id=campaign.pk, role="annotator", uses=9, days=9, note="", actor_id=boss.surrogate_id, now=timezone.now()
    )
    cache.clear()  # how often one may sign up is counted there


def confirm(client, mailoutbox):
    """Enter the code that the last mail holds."""
    code = re.search(r"^[A-Z0-9-]{6,9}$", mailoutbox[-1].body, re.MULTILINE).group()
    return client.post(reverse("account_email_verification_sent"), {"code": code})


def join(token, mailoutbox):
    """Sign up with the one address, confirm it, log in and accept."""
    cache.clear()
    client = Client()
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("account_signup"), {"email": OWN, "password1": PASSWORD, "password2": PASSWORD})
    confirm(client, mailoutbox)
    client.post(reverse("account_login"), {"login": OWN, "password": PASSWORD})
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("invitation-accept"))
    return client


def move_to_another(client, mailoutbox):
    """Add a second address and make it the account's own."""
    cache.clear()
    client.post(reverse("account_email"), {"email": OTHER, "action_add": ""})
    confirm(client, mailoutbox)
    client.post(reverse("account_email"), {"email": OTHER, "action_primary": ""})
    assert User.objects.filter(email=OTHER).exists()


@pytest.mark.parametrize("gives_up", ["the account", "the address"])
def test_an_address_makes_one_annotator_though_it_was_given_up(token, mailoutbox, gives_up):
    client = join(token, mailoutbox)
    move_to_another(client, mailoutbox)
    if gives_up == "the account":
        client.post(reverse("privacy"), {"confirm": OTHER})
    else:
        client.post(reverse("account_email"), {"email": OWN, "action_remove": ""})
    before = Membership.objects.count()
    join(token, mailoutbox)
    assert User.objects.filter(email=OWN).exists()
    assert Membership.objects.count() == before


def test_who_gave_an_address_up_may_take_it_again(token, mailoutbox):
    client = join(token, mailoutbox)
    move_to_another(client, mailoutbox)
    client.post(reverse("account_email"), {"email": OWN, "action_remove": ""})
    cache.clear()
    client.post(reverse("account_email"), {"email": OWN, "action_add": ""})
    confirm(client, mailoutbox)
    client.post(reverse("account_email"), {"email": OWN, "action_primary": ""})
    other = invitation_create(
        scope_id=factories.antique(items=1).pk,
        role="annotator",
        uses=1,
        days=9,
        note="",
        now=timezone.now(),
        actor_id=User.objects.get(is_admin=True).surrogate_id,
    )
    client.get(reverse("invitation", args=[other]))
    client.post(reverse("invitation-accept"))
    assert User.objects.get(email=OWN).memberships.count() == 2


def test_nothing_of_an_erased_address_stays(token, mailoutbox, django_capture_on_commit_callbacks):
    boss = User.objects.get(is_admin=True)
    client = join(token, mailoutbox)
    other = factories.antique(items=1)
    invitations_send(
        scope_id=other.pk,
        role="annotator",
        addresses=[OWN.upper()],
        days=9,
        label="x",
        link=lambda token: token,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    client.post(reverse("privacy"), {"confirm": OWN})
    assert not User.objects.filter(email=OWN).exists()
    for model in apps.get_models():
        for row in model.objects.values():
            assert OWN not in str(row).lower(), model
    assert Invitation.objects.get(scope_id=other.pk).uses_left == 0  # else it would be open to anyone


def test_an_address_that_was_never_confirmed_can_still_be_its_owners(token, mailoutbox):
    stranger = join(token, mailoutbox)
    cache.clear()
    stranger.post(reverse("account_email"), {"email": "victim@uni.example", "action_add": ""})
    stranger.post(reverse("account_email"), {"email": "victim@uni.example", "action_remove": ""})
    stranger.post(reverse("privacy"), {"confirm": OWN})
    victim = User.objects.create_user("victim@uni.example", PASSWORD)
    client = Client()
    client.force_login(victim)
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("invitation-accept"))
    assert victim.memberships.count() == 1


def test_who_erases_an_account_with_an_address_that_they_never_confirmed_bars_nobody(token, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = False
    boss = User.objects.get(is_admin=True)
    invitations_send(
        scope_id=factories.antique(items=1).pk,
        role="annotator",
        addresses=[OWN],
        days=9,
        label="x",
        link=lambda token: token,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    cache.clear()
    stranger = Client()
    stranger.get(reverse("invitation", args=[token]))
    stranger.post(reverse("account_signup"), {"email": OWN, "password1": PASSWORD, "password2": PASSWORD})
    assert User.objects.filter(email=OWN).exists()
    stranger.post(reverse("privacy"), {"confirm": OWN})
    assert not User.objects.filter(email=OWN).exists()
    assert Invitation.objects.get(email=OWN).uses_left == 1
    owner, client = User.objects.create_user(OWN, PASSWORD), Client()
    client.force_login(owner)
    client.get(reverse("invitation", args=[token]))
    client.post(reverse("invitation-accept"))
    assert owner.memberships.count() == 1


def sign_up(token, password, address=OWN, *, keeps_limits=False):
    if not keeps_limits:
        cache.clear()
    client = Client()
    client.get(reverse("invitation", args=[token]))
    form = {"email": address, "password1": password, "password2": password}
    client.last = client.post(reverse("account_signup"), form)
    return client


def is_in(client):
    return "_auth_user_id" in client.session


def test_who_names_an_address_first_gains_nothing_when_its_owner_confirms_it(token, mailoutbox):
    thief = sign_up(token, "thief's password 1")
    thiefs_mail = mailoutbox[-1]
    owner = sign_up(token, PASSWORD)
    assert "already exists" not in mailoutbox[-1].body.lower()
    confirm(owner, mailoutbox)
    assert is_in(owner)
    assert User.objects.get(email=OWN).check_password(PASSWORD)
    confirm(thief, [thiefs_mail])  # the thief reads it
    assert not is_in(thief)
    client = Client()
    client.post(reverse("account_login"), {"login": OWN, "password": "thief's password 1"})
    assert not is_in(client)
    client.post(reverse("account_login"), {"login": OWN, "password": PASSWORD})
    assert is_in(client)


def test_who_names_an_address_later_stops_nobody(token, mailoutbox):
    """Also when it is done again and again, from elsewhere, between a sign-up and its code."""
    owner = sign_up(token, PASSWORD)
    own_mail = mailoutbox[-1]
    for number in range(2 * MOST_NAMED):
        stranger = Client(REMOTE_ADDR="203.0.113.9")
        stranger.get(reverse("invitation", args=[token]))
        form = {"email": OWN, "password1": f"thief's password {number}", "password2": f"thief's password {number}"}
        stranger.post(reverse("account_signup"), form)
    assert len(mailoutbox) <= 1 + MOST_NAMED
    again = sign_up(token, PASSWORD, keeps_limits=True)
    assert len(mailoutbox) <= 2 + MOST_NAMED and mailoutbox[-1] is not own_mail
    confirm(owner, [own_mail])
    assert is_in(owner)
    confirm(again, mailoutbox)
    assert not is_in(again)
    assert User.objects.filter(email=OWN).count() == 1


def test_a_sign_up_for_which_no_mail_is_sent_leaves_nothing(token, settings):
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "confirm_email": "1/600s/ip"}
    sign_up(token, PASSWORD, "first@uni.example")
    people, surrogates = User.objects.count(), Surrogate.objects.count()
    client = sign_up(token, PASSWORD, keeps_limits=True)
    assert "Too many requests" in client.last.content.decode()
    assert (User.objects.count(), Surrogate.objects.count()) == (people, surrogates)


def test_a_sign_up_at_the_same_moment_stops_nobody(token, mailoutbox, monkeypatch):
    """While a sign-up is under way allauth notes its address for a moment."""
    waiting = User.objects.create_user(f"0{UNCONFIRMED}", PASSWORD)
    real = SignupForm.clean_email

    def at_the_same_moment(form):
        EmailAddress.objects.create(user=waiting, email=OWN)
        return real(form)

    monkeypatch.setattr(SignupForm, "clean_email", at_the_same_moment)
    owner = sign_up(token, PASSWORD)
    EmailAddress.objects.filter(user=waiting).delete()
    confirm(owner, mailoutbox)
    assert is_in(owner)
    assert UNCONFIRMED not in owner.get("/").content.decode()


def test_nobody_signs_up_by_an_address_of_ours(token, mailoutbox):
    client = sign_up(token, PASSWORD, f"x{UNCONFIRMED.upper()}")
    assert "use this email address" in client.last.content.decode()
    assert not mailoutbox


def test_a_code_can_be_sent_again(token, mailoutbox):
    client = sign_up(token, PASSWORD)
    page = client.post(reverse("account_email_verification_sent"), {"action": "resend"}, follow=True)
    assert page.status_code == 200 and len(mailoutbox) == 2
    assert 'form="resend"' in page.content.decode()
    confirm(client, mailoutbox)
    assert is_in(client)


def test_sign_ups_that_nobody_confirmed_are_forgotten(token):
    sign_up(token, PASSWORD)
    people = User.objects.count()
    sign_ups_forget(timezone.now())
    assert User.objects.count() == people
    sign_ups_forget(timezone.now() + timedelta(days=2))
    assert User.objects.count() == people - 1


def test_no_mail_confirms_an_address_by_itself(token, mailoutbox):
    """A mail holds a code and no link: nothing that its reader could click by mistake."""
    sign_up(token, "thief's password 1")
    assert "/confirm-email/" not in mailoutbox[-1].body


def test_an_address_that_was_added_and_not_confirmed_keeps_nobody_out(token, mailoutbox):
    stranger = join(token, mailoutbox)
    cache.clear()
    stranger.post(reverse("account_email"), {"email": "victim@uni.example", "action_add": ""})
    assert not EmailAddress.objects.filter(email="victim@uni.example").exists()
    victim = sign_up(token, PASSWORD, "victim@uni.example")
    confirm(victim, mailoutbox)
    assert is_in(victim)


def test_where_nothing_is_confirmed_an_added_address_keeps_nobody_out(token, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = False
    stranger = factories.user()
    EmailAddress.objects.create(user=stranger, email="victim@uni.example")  # as the page of addresses does
    assert is_in(sign_up(token, PASSWORD, "victim@uni.example"))


def test_accounts_that_somebody_uses_or_made_stay(token, mailoutbox):
    client = join(token, mailoutbox)
    made = User.objects.create_user("made@uni.example", PASSWORD)
    invited = User.objects.create_user("invited@uni.example", PASSWORD)
    EmailAddress.objects.create(user=invited, email=invited.email, primary=True)
    factories.join(factories.antique(items=1), invited)
    for address in (OWN, made.email, invited.email):
        sign_up(token, "thief's password 1", address)
        assert "already exists" in mailoutbox[-1].body.lower()
    assert User.objects.filter(pk__in=[made.pk, invited.pk]).count() == 2
    assert is_in(client)
