"""Sign-up that gives an address only to the person who can read its mail."""

from contextlib import suppress
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from allauth.account.adapter import get_adapter
from allauth.account.forms import LoginForm, SignupForm
from allauth.account.internal.flows.login import perform_login
from allauth.account.models import EmailAddress, Login
from allauth.account.views import SignupView
from allauth.core.internal.ratelimit import get_ip
from django import forms
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from web.logins import counted, digest
from web.mails import plain_address

UNCONFIRMED = "@unconfirmed.invalid"  # accounts have an address that ends so until a code was entered
MOST_NAMED, NAMED_SECONDS = 12, 600  # mails to one address that one network address can cause


def is_confirming() -> bool:
    """Return whether addresses have to be confirmed in this installation."""
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory")


class NamedAddresses:
    """A mixin for an adapter: each mailbox has one spelling, and nobody is sent mail repeatedly."""

    def clean_email(self, email: str) -> str:
        """Return the plain spelling; refuse an address entered too often from the same network address recently."""
        email = plain_address(email.strip())
        if email.lower().endswith(UNCONFIRMED):
            raise ValidationError(_("You can't use this email address. Enter another one."))
        request = self.request  # type: ignore[attr-defined]
        if is_confirming() and request is not None:
            key = f"named-address:{get_ip(request)}:{digest(email)}"
            if counted(key, NAMED_SECONDS) > MOST_NAMED:
                raise ValidationError(
                    _("This email address was entered too many times. Wait ten minutes and try again.")
                )
        return str(super().clean_email(email))  # type: ignore[misc]


class PlainLoginForm(LoginForm):  # type: ignore[misc]  # untyped library
    """A login form that accepts any spelling of an address."""

    def clean_login(self) -> str:
        """Return the plain spelling; an invalid address is returned unchanged and can't log in."""
        login = str(super().clean_login())
        with suppress(ValidationError):
            return plain_address(login)
        return login


class OwnersSignupForm(SignupForm):  # type: ignore[misc]  # untyped library
    """A sign-up form that doesn't reserve the address.

    An earlier or simultaneous sign-up with the same address never blocks its owner.
    """

    account_already_exists: bool
    name = forms.CharField(
        label=_lazy("Your name"),
        max_length=150,
        required=False,
        help_text=_lazy(
            "Managers of your campaigns can see this name, but it never appears in datasets. A nickname is fine."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    field_order = ("email", "name", "password1", "password2")

    def clean_email(self) -> Any:
        """Return the address, and remove it from accounts that added but never confirmed it."""
        named = plain_address(self.cleaned_data["email"])
        EmailAddress.objects.filter(email__iexact=named, verified=False, primary=False).delete()
        address = super().clean_email()
        if self.account_already_exists:  # or allauth has just noted the address of a sign-up that waits for its code
            noted = EmailAddress.objects.filter(email__iexact=address).exclude(user__email__endswith=UNCONFIRMED)
            self.account_already_exists = (
                noted.exists() or get_user_model().objects.filter(email__iexact=address).exists()
            )
        return address

    def try_save(self, request: Any) -> Any:
        """Save the account; if the address already has one, take as long as for a new account."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        return super().try_save(request)

    def save(self, request: Any) -> Any:
        """Save an account; the address belongs to it once confirmed."""
        if not is_confirming():
            return super().save(request)
        adapter, address = get_adapter(), self.cleaned_data["email"]
        self.cleaned_data["email"] = f"{uuid4().hex}{UNCONFIRMED}"
        try:
            return adapter.save_user(request, adapter.new_user(request), self)
        finally:
            self.cleaned_data["email"] = address


class OwnersSignupView(SignupView):  # type: ignore[misc]  # untyped library
    """A sign-up that asks for the code sent to the entered address."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Create the account and request the code; delete the account if the code can't be sent."""
        if not is_confirming():
            answer: HttpResponse = super().form_valid(form)
            return answer
        user, answer = form.try_save(self.request)
        if user is None:
            return answer
        address = form.cleaned_data["email"]
        login = Login(user=user, email=address, signup=True, redirect_url=self.get_success_url())
        answer = perform_login(self.request, login)
        EmailAddress.objects.filter(user=user, verified=False).delete()  # allauth noted it: it is nobody's yet
        if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            get_adapter().discard_unconfirmed(user)
        return answer
