"""The table of agreement: intervals of labels and distances of sets have columns of their own."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from measures.agreement import alpha
from measures.judgments import judgments_of
from measures.set_agreement import PagesAgreement
from quality.dashboard.services import quality_numbers_refresh
from quality.models import QualitySnapshot
from tests import factories

pytestmark = pytest.mark.django_db


def table_of(client, campaign, page="quality", role=Role.MANAGER):
    person = factories.user()
    factories.join(campaign, person, role)
    client.force_login(person)
    html = client.get(reverse(page, args=[campaign.slug])).content.decode()
    found = re.search(
        r"<table class=\"table\">\s*<thead>\s*<tr>\s*<th scope=\"col\">Regular items.*?</table>", html, re.DOTALL
    )
    if found is None:
        return None
    cells = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found[0], re.DOTALL)
    return [[" ".join(re.sub("<[^>]*>", "", cell).split()) for cell in cells.findall(row)] for row in rows]


@pytest.fixture
def nq():
    campaign = factories.campaign()
    labels = alpha(judgments_of([(item, who, item % 2) for item in range(6) for who in "abc"]))
    sets = PagesAgreement()
    sets.add([frozenset({1}), frozenset({1, 2})])
    sets.add([frozenset({3}), frozenset({3})])
    measured = {"key": "null", "scale": "nominal"}, {"key": "boxes", "scale": "sets"}
    rows = [
        {**one, "counted": as_row(found), "with_excluded": as_row(found), "by_guideline": []}
        for one, found in zip(measured, (labels, sets.result()), strict=True)
    ]
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    kept = QualitySnapshot.objects.get(campaign=campaign)
    kept.data |= {"agreement": rows}
    kept.save()
    return campaign


def as_row(found):
    return {name: getattr(found, name) for name in found.__slots__}


def test_distances_have_columns_of_their_own(client, nq):
    head, *rows = table_of(client, nq)
    assert head[1:] == [
        "α",
        "95% interval",
        "Mean distance within items",
        "Mean distance overall",
        "Items",
        "Annotators",
    ]
    counted = [row for row in rows if row[0] == "Counted annotations"]
    assert counted[0][3:5] == ["–", "–"]  # labels have an interval, and no distances
    assert counted[1][2] == "–" and float(counted[1][3]) < float(counted[1][4])
    assert {len(row) for row in counted} == {len(head)}


def test_labels_alone_need_no_columns_for_distances(client):
    campaign = factories.antique(items=3, n=2)
    for _ in range(2):
        annotator = factories.annotator(campaign)
        for label in (1, 2, 3):
            factories.vote(campaign, annotator, label)
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    head, *rows = table_of(client, campaign)
    assert head[1:] == ["α", "95% interval", "Items", "Annotators"]
    assert [row[0] for row in rows] == ["All annotations, including excluded", "Counted annotations"]


def test_a_manager_finds_it_on_one_page_and_a_researcher_under_studies(client, nq):
    assert table_of(client, nq, "quality-studies") is None
    assert table_of(client, nq, "quality-studies", Role.RESEARCHER)
