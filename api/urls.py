"""The addresses of the interface and of the pages about it."""

from django.urls import URLPattern, include, path, re_path

from api import pages
from api.http.operations import problems_only
from api.tokens import views
from api.v1 import api_make
from api.webhooks import views as hooks

_operations, _app, _namespace = api_make().urls
for _one in _operations:
    if isinstance(_one, URLPattern) and _one.callback is not None:
        _one.callback = problems_only(_one.callback)

urlpatterns = [
    path("api/v1/openapi.json", pages.description, name="api-description"),
    path("api/v1/", pages.reference, name="api-reference"),
    path("llms.txt", pages.llms, name="llms"),
    path("tokens/", views.tokens, name="api-tokens"),
    path("tokens/<uuid:token_id>/revoke/", views.revoke, name="api-token-revoke"),
    path("campaigns/<slug:slug>/webhooks/", hooks.webhooks, name="campaign-webhooks"),
    path("campaigns/<slug:slug>/webhooks/<uuid:webhook_id>/", hooks.change, name="campaign-webhook"),
    path("campaigns/<slug:slug>/webhooks/<uuid:delivery_id>/replay/", hooks.replay, name="campaign-webhook-replay"),
    path("api/v1/uploads/<str:text>", problems_only(pages.upload), name="api-upload"),
    path("api/v1/", include((_operations, _app), namespace=_namespace)),
    re_path(r"^api/.*$", pages.no_operation, name="api-nothing"),
]
