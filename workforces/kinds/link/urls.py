"""URLs for managers' actions on a panel."""

from django.urls import path

from workforces.kinds.link import views

urlpatterns = [
    path("campaigns/<slug:slug>/recruitment/<int:workforce_id>/approvals.csv", views.approvals, name="approvals"),
    path("campaigns/<slug:slug>/recruitment/<int:workforce_id>/confirm/", views.confirm, name="panel-confirm"),
]
