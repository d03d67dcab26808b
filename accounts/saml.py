"""Stricter forms of two addresses that allauth has for SAML: anyone can send something there."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt

from accounts.parameters import whole_number

MOST_BYTES = 256 * 1024  # of a response; allauth keeps it in a session until it is read


@csrf_exempt
def response_of(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """Take a provider's response, if there is such a provider and the response isn't too large."""
    if not any(one.id == organization_slug and one.kind == "saml" for one in settings.LOGIN_PROVIDERS):
        raise Http404
    if whole_number(request.headers.get("Content-Length", ""), 0) > MOST_BYTES:
        return HttpResponse("The response is too large.", status=413, content_type="text/plain")
    view = import_string("allauth.socialaccount.providers.saml.views.acs")
    answer: HttpResponse = view(request, organization_slug=organization_slug)
    return answer


@csrf_exempt
def no_logout(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """Refuse single logout: its messages aren't signed, so any page could log people out and lead them away."""
    raise Http404
