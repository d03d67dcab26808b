"""URLs for gold keys."""

from django.urls import path

from quality.gold import views

urlpatterns = [
    path("campaigns/<slug:slug>/gold/", views.keys, name="quality-gold"),
    path("campaigns/<slug:slug>/gold/<int:key_id>/", views.key, name="quality-gold-key"),
]
