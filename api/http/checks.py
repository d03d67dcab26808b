"""Checking what was sent with the forms of the pages, so that both accept the same."""

from collections.abc import Iterator
from typing import Any

from django import forms
from ninja import Schema
from pydantic import ConfigDict, model_validator

from api.http.problems import invalid


class Sent(Schema):
    """The body of a request: unknown fields are refused, because they are usually typing errors."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: Any) -> Any:
        """Refuse what databases can't store as text: NUL, and halves of characters."""
        if not isinstance(sent, dict):
            return sent
        for text in _texts(sent):
            if "\x00" in text or (not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text)):
                raise ValueError("A text contains NUL or half a character.")
        return sent


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def checked(form: forms.BaseForm) -> dict[str, Any]:
    """Return the cleaned data of a valid form.

    Raises
    ------
    Refused
        It isn't valid; the problem names each field.
    """
    if form.is_valid():
        return dict(form.cleaned_data)
    named = (
        (("" if field == "__all__" else field), error) for field, errors in form.errors.items() for error in errors
    )
    raise invalid([{"field": field, "detail": str(error)} for field, error in named])


class Reply(Schema):
    """The body of an answer."""
