"""URLs of the workforces app."""

from importlib import import_module

from django.urls import path

from annotation.desk import actions
from workforces.kinds.registry import KINDS
from workforces.views import statement, visits

urlpatterns = [
    path("hit/<slug:key>/", visits.enter, {"door": "hit"}, name="hit"),
    path("join/<slug:key>/", visits.enter, {"door": "join"}, name="join"),
    path("visit/<str:token>/", visits.visit, name="visit"),
    path("visit/<str:token>/agree/", visits.agree, name="visit-agree"),
    path("visit/<str:token>/guidelines/", visits.guidelines, name="visit-guidelines"),
    path("visit/<str:token>/learn/", visits.learn, name="visit-learn"),
    path("visit/<str:token>/<uuid:assignment_id>/answer/", visits.at_assignment(actions.stage), name="visit-stage"),
    path("visit/<str:token>/<uuid:assignment_id>/submit/", visits.at_assignment(actions.submit), name="visit-submit"),
    path("visit/<str:token>/<uuid:assignment_id>/back/", visits.at_assignment(actions.back), name="visit-back"),
    path("visit/<str:token>/<uuid:assignment_id>/draft/", visits.at_assignment(actions.draft), name="visit-draft"),
    path("visit/<str:token>/<uuid:assignment_id>/skip/", visits.at_assignment(actions.skip), name="visit-skip"),
    path("visit/<str:token>/<uuid:assignment_id>/events/", visits.at_assignment(actions.events), name="visit-events"),
    path("statement/<str:token>/", statement.statement, name="statement"),
    *(pattern for kind in KINDS.values() if kind.urls for pattern in import_module(kind.urls).urlpatterns),
]
