"""A mailbox has one spelling: what mail is sent to alike is one address, and what mail refuses is none."""

import pytest
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from accounts.models import Invitation, User
from tests import factories
from tests.accounts.test_addresses import OWN, confirm, sign_up, token
from tests.accounts.test_invitations import boss, campaign, invite
from web.mails import plain_address

__all__ = ["boss", "campaign", "token"]
pytestmark = pytest.mark.django_db
NO_ADDRESSES = [
    '"eve"@uni.example',
    '"\\e\\ve"@uni.example',
    "=?utf-8?q?eve?=@uni.example",
    "=?us-ascii?q?eve?=@uni.example",
    "=?utf-8?q?=0ab?=@uni.example",
    "用户@uni.example",
    "eve@straße.example",
    "eve@uni.example＠b.example",
]
SPELLINGS = ["EVE@Uni.Example", "eve@ｕni.example", "eve@u\u00adni.example", "eve@uni.example\u00ad", "eve@ⓤni.example"]


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_mail_would_read_as_another_address_is_refused_wherever_one_is_entered(token, mailoutbox, address):
    client = sign_up(token, "Zx9!kkq-21x", address)
    assert client.last.status_code == 200
    assert "form" in client.last.context
    assert client.last.context["form"].errors["email"]
    cache.clear()
    assert Client().post(reverse("account_reset_password"), {"email": address}).status_code == 200
    assert not mailoutbox and User.objects.count() == 1


@pytest.mark.parametrize("address", SPELLINGS)
def test_another_spelling_of_an_address_is_that_address(token, mailoutbox, address):
    confirm(sign_up(token, "Zx9!kkq-21x"), mailoutbox)
    sign_up(token, "Zx9!kkq-21x", address)
    assert "already" in mailoutbox[-1].body and len(mailoutbox) == 2
    assert User.objects.filter(email__iendswith="@uni.example").get().email == OWN


def test_what_is_kept_is_the_spelling_that_mail_is_sent_to(token, mailoutbox):
    confirm(sign_up(token, "Zx9!kkq-21x", "eve@Bücher.example"), mailoutbox)
    assert User.objects.filter(email="eve@xn--bcher-kva.example").exists()
    cache.clear()
    client = Client()
    client.post(reverse("account_login"), {"login": "eve@bücher.example", "password": "Zx9!kkq-21x"})
    assert "_auth_user_id" in client.session


def test_spellings_share_the_mails_that_one_may_cause(token, mailoutbox):
    factories.user("eve")
    client = Client()
    for number in range(30):
        domain = "".join(sign.upper() if number >> place & 1 else sign for place, sign in enumerate("example"))
        client.post(reverse("account_reset_password"), {"email": f"eve@{domain}.org"})
    assert len(mailoutbox) <= 12


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_a_named_invitation_goes_to_plain_addresses_alone(boss, campaign, address, django_capture_on_commit_callbacks):
    page = invite(boss, campaign, f"ann@example.org {address}", django_capture_on_commit_callbacks)
    assert "invalid email addresses" in page
    assert not Invitation.objects.exists()


def test_an_invitation_holds_the_one_spelling(boss, campaign, django_capture_on_commit_callbacks):
    page = invite(boss, campaign, " ".join(SPELLINGS), django_capture_on_commit_callbacks)
    assert "1 person was invited" in page
    assert Invitation.objects.get().email == OWN


@pytest.mark.parametrize(
    "address", ["eve", "eve@", "@uni.example", "eve@uni..example", "a b@uni.example", "eve@uni.example\n"]
)
def test_what_is_no_address_is_none(address):
    with pytest.raises(ValidationError):
        plain_address(address)


def test_what_a_mailbox_may_be_called_stays():
    for address in ("o'neil+nq@uni.example", "a.b_c-d@mail.uni.example", "eve@localhost"):
        assert plain_address(address) == address
