"""The operations, one file per resource: parse, one call of a service, render."""

from ninja import Router

from api.resources import (
    annotations,
    boards,
    campaigns,
    cases,
    documents,
    events,
    gold,
    guidelines,
    imports,
    items,
    jobs,
    pay,
    people,
    quality,
    recruitment,
    releases,
    reviews,
    studies,
    tokens,
)

RESOURCES: dict[str, Router] = {
    "campaigns": campaigns.router,
    "guidelines": guidelines.router,
    "imports": imports.router,
    "documents": documents.router,
    "items": items.router,
    "people": people.router,
    "annotations": annotations.router,
    "quality": quality.router,
    "reviews": reviews.router,
    "pay": pay.router,
    "gold-keys": gold.router,
    "studies": studies.router,
    "recruitment": recruitment.router,
    "cases": cases.router,
    "releases": releases.router,
    "boards": boards.router,
    "events": events.router,
    "jobs": jobs.router,
    "tokens": tokens.router,
}
