"""Addresses of the quality app."""

from django.urls import path

from quality import views

urlpatterns = [
    path("campaigns/<slug:slug>/quality/", views.overview, name="quality"),
    path("campaigns/<slug:slug>/decisions/", views.decisions, name="quality-decisions"),
    path("campaigns/<slug:slug>/decisions/<str:what>/<int:pk>/", views.decide, name="quality-decide"),
    path("campaigns/<slug:slug>/inspect/", views.inspect, name="quality-inspect"),
    path("campaigns/<slug:slug>/cases/", views.cases, name="quality-cases"),
    path("campaigns/<slug:slug>/workforces/", views.workforces, name="quality-workforces"),
]
