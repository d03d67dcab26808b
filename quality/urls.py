"""Addresses of the quality app."""

from django.urls import path

from quality.views import (
    audits,
    behaviour,
    cases,
    charts,
    decisions,
    gold,
    inspections,
    overview,
    people,
    policy,
    rules,
    standing,
    studies,
    target,
    workforces,
)

urlpatterns = [
    path("campaigns/<slug:slug>/quality/", overview.overview, name="quality"),
    path("campaigns/<slug:slug>/quality/charts/<slug:figure>/", charts.chart, name="quality-chart"),
    path("campaigns/<slug:slug>/quality/charts/<slug:figure>.svg", charts.chart_svg, name="quality-chart-svg"),
    path("campaigns/<slug:slug>/quality/charts/<slug:figure>.csv", charts.chart_csv, name="quality-chart-csv"),
    path("campaigns/<slug:slug>/quality/gold/", gold.keys, name="quality-gold"),
    path("campaigns/<slug:slug>/quality/gold/<int:key_id>/", gold.key, name="quality-gold-key"),
    path("campaigns/<slug:slug>/quality/experts/", cases.experts, name="quality-experts"),
    path("campaigns/<slug:slug>/quality/audits/", audits.audits, name="quality-audits"),
    path("campaigns/<slug:slug>/quality/studies/", studies.studies, name="quality-studies"),
    path("campaigns/<slug:slug>/quality/studies.json", studies.studies_json, name="quality-studies-json"),
    path("campaigns/<slug:slug>/quality/studies/plan/", studies.plan, name="quality-study-plan"),
    path("campaigns/<slug:slug>/quality/rules/", rules.rules, name="quality-rules"),
    path("campaigns/<slug:slug>/quality/behaviour/", behaviour.behaviour, name="quality-behaviour"),
    path("campaigns/<slug:slug>/quality/policy/", policy.policy, name="quality-policy"),
    path("campaigns/<slug:slug>/quality/target/", target.target, name="quality-target"),
    path("campaigns/<slug:slug>/quality/people/<uuid:surrogate_id>/", people.person, name="quality-person"),
    path("campaigns/<slug:slug>/items/<int:item_id>/ask/", cases.ask, name="quality-ask"),
    path("campaigns/<slug:slug>/decisions/", decisions.decisions, name="quality-decisions"),
    path("campaigns/<slug:slug>/decisions/<str:what>/<int:pk>/", decisions.decide, name="quality-decide"),
    path("campaigns/<slug:slug>/inspect/", inspections.inspect, name="quality-inspect"),
    path("campaigns/<slug:slug>/cases/", cases.desk, name="quality-cases"),
    path("campaigns/<slug:slug>/cases/<int:case_id>/", cases.discussion, name="quality-case"),
    path("campaigns/<slug:slug>/standing/", standing.standing, name="quality-standing"),
    path("statement/<str:token>/standing/", standing.statement_standing, name="statement-standing"),
    path("campaigns/<slug:slug>/workforces/", workforces.workforces, name="quality-workforces"),
]
