"""The page of the studies: computed by a job, shown with charts, sent as JSON."""

import json

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from django.urls import reverse
from django.utils import timezone

from measures import studies
from measures.charts.svg import as_csv, in_page
from measures.studies import as_json
from quality.dashboard.charts.campaign import chart_of
from quality.dashboard.charts.drawings import Numbers
from quality.models import StudySnapshot
from quality.studies.charts import STUDIES
from quality.studies.services import studies_refresh
from tests import factories
from tests.measures.test_studies import GRADES, crowd
from tests.quality.dashboard.test_charts import TODAY
from tests.quality.worlds import nq


@pytest.fixture(scope="module")
def computed():
    """Return studies of sixty invented items with 25 annotations each, as a snapshot keeps them."""
    items, grades = crowd(np.random.default_rng(3), 60)
    found = {
        "items": 60,
        "figure_4": studies.by_agreement(studies.non_null(items), grades, GRADES),
        "coverage": studies.coverage(items),
        "distinct": studies.distinct(items),
    }
    shares = {
        path: studies.share_of([place % 5 == number for place in range(60)])
        for number, path in enumerate(("bad_question", "no_answer", "long_only", "short_answer", "yes_no"))
    }
    return as_json(
        {
            "ways": 25,
            "statistics": {"items": 60, "paths": shares},
            "precision": {},
            "variability": {"passage": found, "short": found},
            "bounds": {kind: {"items": 60, **studies.bounds(items, partitions=5)} for kind in ("passage", "short")},
        }
    )


def numbers(found):
    paths = {
        "bad_question": "Bad question",
        "no_answer": "No answer",
        "long_only": "Long",
        "short_answer": "Short",
        "yes_no": "Yes/no answer",
    }
    return Numbers(
        quality={},
        work={},
        today=TODAY,
        measures={},
        paths=paths,
        names=dict,
        studies=found,
        parts={"passage": "Passage", "short": "Short answer"},
        grades=dict.fromkeys(GRADES, "Grade"),
    )


@pytest.mark.parametrize("key", STUDIES)
def test_each_chart_of_a_study_keeps_to_a_strict_page(key, computed):
    chart = chart_of(key, numbers(computed))
    page = in_page(chart)
    assert fromstring(page).attrib["aria-label"].startswith(chart.title)
    assert "style" not in page.replace("font-style", "")
    assert len(as_csv(chart).splitlines()) == len(chart.rows) + 1 > 2
    assert chart_of(key, numbers({})) is None
    assert (
        chart_of(key, numbers({name: {"why": "Too few."} for name in ("statistics", "variability", "bounds")})) is None
    )


def test_the_columns_of_figure_4_add_up_to_all_items(computed):
    chart = chart_of("figure-4-passage", numbers(computed))
    assert len(chart.rows) == 5
    assert sum(sum(row[1:4]) for row in chart.rows) == pytest.approx(1, abs=0.01)


@pytest.mark.django_db
def test_the_page_shows_what_can_be_computed_and_says_what_is_missing(client):
    campaign = nq(n=1, items=2)
    factories.annotate(campaign, factories.annotator(campaign), label="good", box=0, kind="yes")
    client.force_login(factories.user(is_admin=True))
    page, file = (reverse(name, args=[campaign.slug]) for name in ("quality-studies", "quality-studies-json"))
    assert "Calculating…" in client.get(page).content.decode()
    chart = reverse("quality-chart", args=[campaign.slug, "paths"])
    assert "max-age=0" in client.get(chart)["Cache-Control"]  # not for half a minute what may be drawn in a moment
    assert json.loads(client.get(file).content) == {}
    factories.run_jobs()
    text = client.get(page).content.decode()
    assert text.count("more than 5 annotations were requested") == 1
    assert "Super-annotator" not in text and "<h2>Human performance</h2>" not in text  # it could not be computed
    sent = json.loads(client.get(file).content)
    assert sent["statistics"]["paths"]["yes_no"]["share"] == 1
    assert sent == StudySnapshot.objects.get().data
    drawn = client.get(chart)
    assert "Yes/no answer 100%" in drawn.content.decode()
    assert "max-age=30" in drawn["Cache-Control"]


@pytest.mark.django_db
def test_a_campaign_with_many_annotations_shows_what_people_reach(client):
    campaign = nq(n=6, items=3)
    for _ in range(6):
        person = factories.annotator(campaign)
        for _ in range(3):
            factories.annotate(campaign, person, label="good", box=0, kind="yes")
    studies_refresh(campaign=campaign, now=timezone.now())
    client.force_login(factories.user(is_admin=True))
    text = client.get(reverse("quality-studies", args=[campaign.slug])).content.decode()
    assert "3 items with 6 annotations" in text
    assert "100.0%" in text
    kept = StudySnapshot.objects.get()
    shown = {
        "item": campaign.items.first().pk,
        "lines": [["Question", "q"]],
        "answers": {"passage": {"found": 6, "same": 6, "grade": ""}},
    }
    kept.data["examples"] = {"items": [shown]}
    kept.save()
    pages = {}
    for role in ("manager", "researcher"):
        person = factories.user()
        factories.join(campaign, person, role)
        client.force_login(person)
        pages[role] = client.get(reverse("quality-studies", args=[campaign.slug])).content.decode()
    link = f'href="/campaigns/{campaign.slug}/items/{shown["item"]}/"'
    assert link in pages["manager"]
    assert link not in pages["researcher"], "a researcher has no page of an item"


@pytest.mark.django_db
def test_a_campaign_whose_answers_are_labels_has_none(client):
    client.force_login(factories.user(is_admin=True))
    campaign = factories.antique(items=1, n=1)
    assert "answers on a page" in client.get(reverse("quality-studies", args=[campaign.slug])).content.decode()
    assert not StudySnapshot.objects.exists()
