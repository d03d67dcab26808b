"""Forms of the worker site."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from marketplace.models import Worker
from marketplace.protocol.answers import Answer
from marketplace.protocol.forms import Field, Form

_TWO_LETTERS = RegexValidator(r"^[A-Z]{2}$", _("Enter a code of two capital letters."))


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """Profile data that requesters' requirements refer to, and a name for the worker's own page."""

    country = forms.CharField(
        label=_("Country"),
        required=False,
        max_length=2,
        validators=[_TWO_LETTERS],
        help_text=_(
            "Enter a two-letter country code, such as DE, US, or CN. Some HITs are limited to certain countries."
        ),
    )
    subdivision = forms.CharField(
        label=_("State or province"),
        required=False,
        max_length=2,
        validators=[_TWO_LETTERS],
        help_text=_(
            "Enter a two-letter code, for example CA. It's needed only for HITs limited to certain states or provinces."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.country:
            for name in ("country", "subdivision"):
                self.fields[name].disabled = True
                self.fields[name].help_text = _(
                    "You can set this only once. To change it, contact the marketplace's operator."
                )

    class Meta:
        model = Worker
        fields = ["display_name", "country", "subdivision", "is_adult_content_ok"]
        labels = {
            "display_name": _("Name (only you see it)"),
            "is_adult_content_ok": _("I'm an adult, and I accept HITs with adult content"),
        }


class TestForm:
    """A completed qualification test: validates the input and converts it into answers."""

    def __init__(self, form: Form, data: Any) -> None:
        self.form = form
        self.data = data
        self.errors: dict[str, str] = {}

    def answers(self) -> list[Answer] | None:
        """Return the answers, or None with ``errors`` set."""
        found = [self._answer(number, field) for number, field in enumerate(self.form.fields)]
        return None if self.errors else [answer for answer in found if answer is not None]

    def _answer(self, number: int, field: Field) -> Answer | None:
        name = f"q{number}"
        if not field.is_choice:
            text = self.data.get(name, "").strip()
            if field.required and not text:
                self.errors[name] = str(_("Please answer this question."))
            return Answer(field.identifier, text=text[:20_000])
        known = {identifier for identifier, _text in field.selections}
        chosen = tuple(value for value in self.data.getlist(name) if value in known)
        if (field.required or chosen) and not field.least <= len(chosen) <= field.most:
            self.errors[name] = str(_("Please select the requested number of options."))
        return Answer(field.identifier, selections=chosen) if chosen else None
