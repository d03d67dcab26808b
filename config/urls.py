"""Every address of the platform."""

from django.conf import settings
from django.urls import include, path

from web.catalogue import catalogue
from web.signups import OwnersSignupView

handler500 = "accounts.away.failed"
urlpatterns = [
    path("account/signup/", OwnersSignupView.as_view(), name="account_signup"),
    path("account/", include("allauth.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("jsi18n/", catalogue, name="javascript-catalog"),
    path("", include("accounts.urls")),
    path("", include("jobs.urls")),
    path("", include("annotation.urls")),
    path("", include("workforces.urls")),
    path("", include("quality.urls")),
    path("", include("exports.urls")),
    path("", include("evaluation.urls")),
    path("", include("console.urls")),
    path("", include("api.urls")),
]

if settings.LOGIN_PROVIDERS:  # else allauth's models of them aren't installed
    from accounts.saml import no_logout, response_of
    from annotation.people.views.provider_access import access

    urlpatterns[:0] = [
        path("account/saml/<slug:organization_slug>/acs/", response_of, name="saml_acs"),
        path("account/saml/<slug:organization_slug>/sls/", no_logout, name="saml_sls"),
    ]
    urlpatterns.append(path("login-providers/<slug:provider_id>/access/", access, name="provided-access"))
