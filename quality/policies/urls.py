"""URLs for policies."""

from django.urls import path

from quality.policies import views

urlpatterns = [
    path("campaigns/<slug:slug>/policy/", views.policy, name="quality-policy"),
]
