"""URLs for certificates."""

from django.urls import path

from quality.certificates import views

urlpatterns = [
    path("campaigns/<slug:slug>/certificates/", views.certificates, name="quality-certificates"),
    path(
        "campaigns/<slug:slug>/certificates/<int:number>/<str:name>",
        views.certificate_file,
        name="quality-certificate-file",
    ),
]
