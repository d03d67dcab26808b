"""Addresses of the accounts app."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("invite/", views.invitation_page, name="invitation-accept"),
    path("invite/<str:token>/", views.invitation, name="invitation"),
    path("session/", views.session, name="session"),
    path("account/privacy/", views.privacy, name="privacy"),
]
