"""URLs of experts' pages and spot checks."""

from django.urls import path

from quality.experts.views import cases, inspections

urlpatterns = [
    path("campaigns/<slug:slug>/experts/", cases.experts, name="quality-experts"),
    path("campaigns/<slug:slug>/items/<int:item_id>/ask/", cases.ask, name="quality-ask"),
    path("campaigns/<slug:slug>/spot-checks/", inspections.inspect, name="quality-inspect"),
    path("campaigns/<slug:slug>/cases/", cases.desk, name="quality-cases"),
    path("campaigns/<slug:slug>/cases/<int:case_id>/", cases.discussion, name="quality-case"),
]
