"""URLs of Prolific."""

from django.urls import path

from workforces.kinds.prolific import views

urlpatterns = [
    path("hooks/prolific/", views.hook, name="prolific-hook"),
]
