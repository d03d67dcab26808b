"""The translations for scripts, in the language of the page that requests them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.views.i18n import JavaScriptCatalog

_catalogue = JavaScriptCatalog.as_view()


def catalogue(request: HttpRequest) -> HttpResponseBase:
    """Return the translations in the language given in the URL, else in the person's language."""
    language = request.GET.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return _catalogue(request)
    with translation.override(language):
        return _catalogue(request)
