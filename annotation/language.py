"""The language of annotators' pages: the campaign's, unless they chose another."""

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from annotation.models import Campaign


def language_speak(request: HttpRequest, campaign: Campaign) -> None:
    """Answer a request in the campaign's language, if the pages are translated into it.

    A person's own choice takes precedence. English, the default of campaigns, doesn't count as a campaign's choice.
    """
    if settings.LANGUAGE_COOKIE_NAME in request.COOKIES:
        return
    try:
        code = translation.get_supported_language_variant(campaign.language)
    except LookupError:
        return
    if code != settings.LANGUAGE_CODE:
        translation.activate(code)
