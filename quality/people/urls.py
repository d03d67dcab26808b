"""URLs for the pages about annotators."""

from django.urls import path

from quality.people.views import behaviour, people, rules, standing, workforces

urlpatterns = [
    path("campaigns/<slug:slug>/rules/", rules.rules, name="quality-rules"),
    path("campaigns/<slug:slug>/behavior/", behaviour.behaviour, name="quality-behaviour"),
    path("campaigns/<slug:slug>/annotators/", people.people, name="quality-people"),
    path("campaigns/<slug:slug>/annotators/<uuid:surrogate_id>/", people.person, name="quality-person"),
    path("campaigns/<slug:slug>/standing/", standing.standing, name="quality-standing"),
    path("statement/<str:token>/standing/", standing.statement_standing, name="statement-standing"),
    path("campaigns/<slug:slug>/recruitment/", workforces.workforces, name="quality-workforces"),
]
