"""Every address of the platform."""

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
]
