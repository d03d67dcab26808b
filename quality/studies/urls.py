"""URLs for studies."""

from django.urls import path

from quality.studies import views

urlpatterns = [
    path("campaigns/<slug:slug>/studies/", views.studies, name="quality-studies"),
    path("campaigns/<slug:slug>/studies.json", views.studies_json, name="quality-studies-json"),
    path("campaigns/<slug:slug>/studies/design/", views.design, name="quality-study-design"),
]
