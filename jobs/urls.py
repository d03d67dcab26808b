"""Addresses of the jobs app."""

from django.urls import path

from jobs import views

urlpatterns = [path("jobs/<uuid:job_id>/", views.job_progress, name="job")]
