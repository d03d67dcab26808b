"""Addresses of the dashboard and the review queue."""

from django.urls import path

from quality.dashboard.views import charts, overview, review_queue

urlpatterns = [
    path("campaigns/<slug:slug>/summary/", overview.overview, name="quality"),
    path("campaigns/<slug:slug>/summary/charts/<slug:figure>/", charts.chart, name="quality-chart"),
    path("campaigns/<slug:slug>/summary/charts/<slug:figure>.svg", charts.chart_svg, name="quality-chart-svg"),
    path("campaigns/<slug:slug>/summary/charts/<slug:figure>.csv", charts.chart_csv, name="quality-chart-csv"),
    path("campaigns/<slug:slug>/review/", review_queue.decisions, name="quality-decisions"),
    path("campaigns/<slug:slug>/review/<str:what>/<int:pk>/", review_queue.decide, name="quality-decide"),
]
