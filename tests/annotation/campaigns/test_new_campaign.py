"""Making a campaign: what it will take, and what annotators will read, while the form is filled in."""

from decimal import Decimal

import pytest
from django.test import Client

from annotation.campaigns.effort import SplitEffort, effort_of
from annotation.campaigns.services.campaigns import NewSplit
from annotation.models import Campaign
from tests import factories

SENT = {
    "title": "Harbours",
    "task_type": "antique",
    "splits": "train 1 8\ntest 5 2",
    "items": "1000",
    "seconds": "36",
    "pay_an_hour": "15.00",
    "purpose": "To learn about harbours.",
    "recorded": "Answers.",
    "contact": "Ada",
    "content_warning": "Some are stormy.",
}


def test_the_effort_is_items_by_share_times_annotations_times_seconds():
    found = effort_of([("train", 1, 8), ("test", 5, 2)], items=1000, seconds=36, pay_an_hour=Decimal(15))
    assert found.splits == [SplitEffort("train", 800, 800), SplitEffort("test", 200, 1000)]
    assert (found.annotations, found.hours, found.pay_cents) == (1800, 18.0, 27_000)


def test_half_a_cent_is_rounded_up_and_no_share_takes_nothing():
    assert effort_of([("a", 1, 1)], items=1, seconds=1, pay_an_hour=Decimal(18)).pay_cents == 1
    assert effort_of([("a", 3, 0)], items=9, seconds=1, pay_an_hour=Decimal(1)).annotations == 0


@pytest.fixture
def client():
    client = Client()
    client.force_login(factories.user(is_admin=True))
    return client


@pytest.mark.django_db
def test_a_preview_shows_the_cost_and_the_consent_page_and_keeps_nothing(client):
    page = client.post("/campaigns/new/preview/", SENT).content.decode()
    for text in (
        "$270.00",
        "train: 800 items, 800 annotations",
        "To learn about harbours.",
        "Some are stormy.",
        "Harbours",
    ):
        assert text in page
    assert "one of four labels" in page  # what they do
    assert not Campaign.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("broken", ["splits", "items", "seconds", "pay_an_hour", "title", "task_type", "purpose"])
def test_a_preview_shows_what_it_can_of_a_form_that_is_half_filled_in(client, broken):
    answer = client.post("/campaigns/new/preview/", {**SENT, broken: ""})
    assert answer.status_code == 200
    is_about_cost = broken in ("splits", "items", "seconds", "pay_an_hour")
    assert ("$270.00" in answer.content.decode()) is not is_about_cost


@pytest.mark.django_db
def test_what_is_typed_is_shown_as_text(client):
    page = client.post(
        "/campaigns/new/preview/", {**SENT, "title": "<script>x</script>", "purpose": "<b>y</b>"}
    ).content
    assert b"<script>x" not in page and b"<b>y" not in page


@pytest.mark.django_db
def test_a_short_name_is_made_of_the_title_once(client):
    sent = {**SENT, "language": "en", "time_zone": "UTC", "seed": 0, "deadline_minutes": 30}
    assert client.post("/campaigns/new/", sent).url == "/campaigns/harbours/import/"
    assert Campaign.objects.get().group_by == "question"  # as relevance has it
    page = client.post("/campaigns/new/", sent)
    assert page.context["form"].errors["slug"]
    assert Campaign.objects.count() == 1


@pytest.mark.django_db
def test_splits_whose_names_differ_in_case_alone_are_refused():
    with pytest.raises(ValueError, match="the same name"):
        factories.campaign(splits=[NewSplit("train", 1), NewSplit("TRAIN", 1)])


@pytest.mark.django_db
def test_the_form_begins_with_what_suits_the_task_type(client):
    for key, splits, seconds in (("nq", "dev 5 1", "80"), ("antique", "train 3 9", "30"), ("dbqa", "train 1 8", "75")):
        page = client.get("/campaigns/new/", {"task_type": key})
        assert splits in page.context["form"]["splits"].value()
        assert page.context["form"]["task_type"].value() == key
        assert str(page.context["effort_form"]["seconds"].value()) == seconds


@pytest.mark.django_db
def test_another_task_type_replaces_defaults_and_keeps_what_a_person_wrote(client):
    sent = {"task_type": "antique", "splits": "train 1 8\r\ndev 5 1\r\ntest 5 1", "seconds": "44"}
    page = client.get("/campaigns/new/", sent)
    assert page.context["form"]["splits"].value() == "train 3 9\ntest 3 1"
    assert page.context["effort_form"]["seconds"].value() == "44"
    page = client.get("/campaigns/new/", sent | {"splits": "mine 7 1"})
    assert page.context["form"]["splits"].value() == "mine 7 1"


@pytest.mark.django_db
@pytest.mark.parametrize(("task_type", "is_refused"), [("antique", True), ("nq", False)])
def test_votes_that_can_tie_are_refused(client, task_type, is_refused):
    sent = {**SENT, "task_type": task_type, "splits": "train 3 8\ntest 4 2", "language": "en", "time_zone": "UTC"}
    page = client.post("/campaigns/new/", {**sent, "seed": 0, "deadline_minutes": 30})
    assert (page.status_code == 200) is is_refused
    if is_refused:
        assert page.context["form"].errors["splits"] == [
            "Votes can tie in test. Use an odd number of annotations per item, for example 3."
        ]
    assert Campaign.objects.exists() is not is_refused
