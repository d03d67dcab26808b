"""The language of annotators' pages: the campaign's, unless they chose another."""

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from annotation.models import Campaign


def language_speak(request: HttpRequest, campaign: Campaign) -> None:
    """Answer a request in the language of a campaign, where the pages are there in it.

    Not where the person chose one; and English, which campaigns have by themselves, is no choice of theirs.
    """
    if settings.LANGUAGE_COOKIE_NAME in request.COOKIES:
        return
    try:
        code = translation.get_supported_language_variant(campaign.language)
    except LookupError:
        return
    if code != settings.LANGUAGE_CODE:
        translation.activate(code)
