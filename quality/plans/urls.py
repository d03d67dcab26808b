"""The URL of forecasts."""

from django.urls import path

from quality.plans import views

urlpatterns = [path("campaigns/<slug:slug>/plan/", views.plan, name="campaign-plan")]
