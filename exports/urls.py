"""Addresses of the exports app."""

from django.urls import path

from exports import views
from exports.publishing.views import publish

urlpatterns = [
    path("campaigns/<slug:slug>/releases/", views.releases, name="releases"),
    path("campaigns/<slug:slug>/releases/<int:number>/", views.release, name="release"),
    path("campaigns/<slug:slug>/releases/<int:number>/write/", views.write_here, name="release-write"),
    path("campaigns/<slug:slug>/releases/<int:number>/publish/", publish, name="release-publish"),
    path("campaigns/<slug:slug>/releases/<int:number>/all/", views.download_all, name="release-all"),
    path("campaigns/<slug:slug>/releases/<int:number>/files/<path:name>", views.download, name="release-file"),
]
