"""Addresses of the console app."""

from django.urls import path

from console.views import history, search, site

urlpatterns = [
    path("", site.home, name="home"),
    path("healthz", site.alive, name="alive"),
    path("readyz", site.ready, name="ready"),
    path("metrics", site.metrics, name="metrics"),
    path("campaigns/by-id/<uuid:campaign_id>/", history.by_id, name="campaign-by-id"),
    path("campaigns/<slug:slug>/search/", search.search_page, name="campaign-search"),
    path("campaigns/<slug:slug>/activity/", history.log, name="campaign-log"),
    path("campaigns/<slug:slug>/jobs/", history.jobs, name="campaign-jobs"),
    path("campaigns/<slug:slug>/jobs/retry/", history.jobs_retry, name="campaign-jobs-retry"),
    path("styleguide/", site.styleguide, name="styleguide"),
]
