"""Addresses of the console app."""

from django.urls import path

from console import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.alive, name="alive"),
    path("readyz", views.ready, name="ready"),
    path("styleguide/", views.styleguide, name="styleguide"),
]
