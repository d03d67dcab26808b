"""Every address of the marketplace."""

from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import JavaScriptCatalog

from marketplace.views import earnings, frames, hits, people, qualifications, root
from web.fields import raw_body
from web.signups import OwnersSignupView

urlpatterns = [
    path("", csrf_exempt(raw_body(root.root)), name="home"),
    path("healthz", root.healthz, name="healthz"),
    path("readyz", root.readyz, name="readyz"),
    path("metrics", root.metrics, name="metrics"),
    path("groups/<slug:group_id>/next/", hits.accept_next, name="accept-next"),
    path("hits/<slug:hit_id>/", hits.preview, name="preview"),
    path("hits/<slug:hit_id>/accept/", hits.accept, name="accept"),
    path("work/", hits.mine, name="work-mine"),
    path("work/<int:pk>/", hits.work, name="work"),
    path("work/<int:pk>/state/", hits.state, name="work-state"),
    path("work/<int:pk>/next/", hits.auto_accept, name="work-next"),
    path("work/<int:pk>/return/", hits.give_back, name="work-return"),
    path("earnings/", earnings.earnings, name="earnings"),
    path("requesters/<slug:customer_id>/", people.requester, name="requester"),
    path("qualifications/", qualifications.listing, name="qualifications"),
    path("qualifications/<slug:type_id>/", qualifications.one, name="qualification"),
    path("messages/", people.messages_page, name="messages"),
    path("profile/", people.profile, name="profile"),
    path("welcome/", people.welcome, name="welcome"),
    path("join/<str:token>/", people.join, name="join"),
    path("s/<str:secret>/mturk/externalSubmit", csrf_exempt(raw_body(frames.external_submit)), name="external-submit"),
    path("mturk/externalHIT_v1.js", frames.helper_script, name="helper-script"),
    path("content/<str:token>/", frames.content, name="content"),
    path("account/signup/", OwnersSignupView.as_view(), name="account_signup"),
    path("account/", include("allauth.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("jsi18n/", JavaScriptCatalog.as_view(), name="javascript-catalog"),
]
