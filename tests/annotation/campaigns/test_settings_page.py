"""Settings of a campaign after it was made: what changes, what is asked again, what another begins with."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent
from accounts.selectors import consent_is_current, consent_text_current
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.campaigns.services.campaigns import campaign_change, guideline_publish
from annotation.items.forms import DocumentsForm
from annotation.models import Campaign
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.models import Job
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client):
    person = factories.user(is_admin=True)
    client.force_login(person)
    return person


def sent(campaign, **changed):
    return {
        "what": "settings",
        "title": campaign.title,
        "content_warning": "",
        "deadline_minutes": 30,
        "quota": "",
        "time_zone": "UTC",
        **changed,
    }


def test_settings_change_and_the_change_is_recorded_with_what_was_before(client, boss):
    campaign = factories.antique(items=2)
    url = reverse("campaign-settings", args=[campaign.slug])
    client.post(url, sent(campaign, title="Other", deadline_minutes=45, quota=7))
    campaign.refresh_from_db()
    assert (campaign.title, campaign.deadline_seconds, campaign.quota) == ("Other", 45 * 60, 7)
    event = AuditEvent.objects.get(action="campaign_change")
    assert event.data["before"]["deadline_seconds"] == 1800
    client.post(url, sent(campaign, title="Other", deadline_minutes=45, quota=7))
    assert AuditEvent.objects.filter(action="campaign_change").count() == 1  # nothing was different


@pytest.mark.parametrize(
    "wrong", [{"deadline_minutes": 0}, {"time_zone": "Mars/Base"}, {"time_zone": ""}, {"title": ""}, {"quota": -1}]
)
def test_wrong_settings_are_told_and_change_nothing(client, boss, wrong):
    campaign = factories.antique(items=2)
    before = Campaign.objects.values().get()
    answer = client.post(reverse("campaign-settings", args=[campaign.slug]), sent(campaign, **wrong))
    assert answer.context["form"].errors
    assert Campaign.objects.values().get() == before


@pytest.mark.parametrize("typed", ["Asia/Hong_Kong", "asia/hong kong", " hong kong "])
def test_a_time_zone_is_found_by_its_city(client, boss, typed):
    campaign = factories.antique(items=2)
    url = reverse("campaign-settings", args=[campaign.slug])
    assert "<option>Asia/Hong_Kong</option>" in client.get(url).content.decode()
    client.post(url, sent(campaign, time_zone=typed))
    campaign.refresh_from_db()
    assert campaign.time_zone == "Asia/Hong_Kong"


def test_what_cannot_change_is_refused():
    campaign = factories.antique(items=2)
    with pytest.raises(ValueError, match="can't be changed: slug"):
        campaign_change(campaign=campaign, changes={"slug": "x"}, actor_id=None, now=timezone.now())


def test_a_new_consent_text_asks_everybody_again_and_the_same_one_asks_nobody(client, boss):
    campaign = factories.antique(items=2)
    person = factories.annotator(campaign)
    text = consent_text_current(campaign.pk)
    url = reverse("campaign-settings", args=[campaign.slug])
    same = {
        "what": "consent",
        "purpose": text.purpose,
        "recorded": text.recorded,
        "contact": text.contact,
        "approval_id": text.approval_id,
        **({"tells_behaviour": "on"} if text.tells_behaviour else {}),
    }
    client.post(url, same)
    assert consent_text_current(campaign.pk) == text
    client.post(url, {**same, "purpose": "Another purpose."})
    assert consent_text_current(campaign.pk).version == text.version + 1
    assert not consent_is_current(scope_id=campaign.pk, surrogate_id=person.surrogate_id)


def test_another_campaign_begins_with_the_settings_of_one_there_is(client, boss):
    campaign = factories.antique(items=2)
    campaign_change(campaign=campaign, changes={"deadline_seconds": 600}, actor_id=None, now=timezone.now())
    guideline_publish(campaign=campaign, body="Our own rules.", actor_id=None, now=timezone.now())
    url = reverse("campaign-new") + f"?like={campaign.slug}"
    form = client.get(url).context["form"]
    fields = {name: form[name].value() for name in form.fields}
    assert (fields["task_type"], fields["deadline_minutes"], fields["splits"]) == ("antique", 10, "train 3 1")
    answer = client.post(url, {name: value or "" for name, value in fields.items()} | {"slug": "again", "seed": 0})
    made = Campaign.objects.get(slug="again")
    assert answer.status_code == 302
    assert guideline_current(made).body == "Our own rules."
    assert (made.deadline_seconds, made.items.count(), made.participations.count()) == (600, 0, 0)


def test_a_setting_that_was_not_touched_stays_as_it_is(client, boss):
    """The form shows this campaign's time, and saving a title does not round or reset it."""
    campaign = factories.antique(items=2)
    campaign_change(campaign=campaign, changes={"deadline_seconds": 630}, actor_id=None, now=timezone.now())
    url = reverse("campaign-settings", args=[campaign.slug])
    form = client.get(url).context["form"]
    shown = {name: form[name].value() or "" for name in form.fields}
    assert shown["deadline_minutes"] == 10
    client.post(url, {"what": "settings", **shown, "title": "Other"})
    campaign.refresh_from_db()
    assert (campaign.title, campaign.deadline_seconds) == ("Other", 630)


def upload(name, text="<p>Page</p>"):
    return SimpleUploadedFile(name, text.encode())


def test_several_pages_at_once_become_one_archive():
    form = DocumentsForm({}, {"file": [upload("a.html", "<p>A</p>"), upload("b.HTM", "<p>B</p>")]})
    assert form.is_valid(), form.errors
    file = form.cleaned_data["file"]
    with zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "a.html": b"<p>A</p>",
            "b.HTM": b"<p>B</p>",
        }
    assert file.name == "pages.zip"


def test_pages_are_sent_together_by_the_page_and_none_is_an_error_of_the_form(client, boss):
    url = reverse("campaign-import", args=[factories.campaign().slug])
    refused = client.post(url, {"what": "documents"})
    assert refused.context["forms"]["documents"].errors["file"]
    jobs = Job.objects.filter(payload__name="pages.zip")
    assert not jobs.exists()
    client.post(url, {"what": "documents", "file": [upload("a.html"), upload("b.html", "<p>Another page.</p>")]})
    factories.run_jobs()
    assert [(job.state, job.result["imported"]) for job in jobs] == [("done", 2)]


@pytest.mark.parametrize("names", [("a.html", "b.zip"), ("a.html", "a.html")])
def test_several_files_that_are_no_pages_or_have_one_name_are_refused(names):
    form = DocumentsForm({}, {"file": [upload(name) for name in names]})
    assert form.errors["file"]


@pytest.mark.parametrize(
    ("make", "name", "absent"), [(factories.antique, "Pairs", True), (factories.campaign, "Questions", False)]
)
def test_the_import_speaks_of_the_task_and_its_sample_can_be_imported(client, boss, make, name, absent):
    campaign = make(items=0)
    page = client.get(reverse("campaign-import", args=[campaign.slug])).content.decode()
    assert f"{name}</h2>" in page
    assert ("Import published file" not in page) is absent
    pages = pages_of(campaign.task_type)
    rows = [json.loads(line) for line in pages.rows_sample.splitlines()]
    for row in rows:
        assert TASK_TYPES[campaign.task_type].item_from_row(row).content["question_text"]


def opened(client, url, what):
    """Return what a page of settings sends again if nothing is touched."""
    form = client.get(url).context["form" if what == "settings" else "consent"]
    shown = {field.html_name: field.value() for field in form}
    shown |= {field.html_initial_name: field.value() for field in form}
    return {name: "" if value is None else value for name, value in shown.items() if value is not False} | {
        "what": what
    }


def test_a_page_that_was_open_meanwhile_changes_only_what_was_touched_on_it(client, boss):
    campaign = factories.antique(items=2)
    url = reverse("campaign-settings", args=[campaign.slug])
    first, second = opened(client, url, "settings"), opened(client, url, "settings")
    client.post(url, first | {"title": "Another title"})
    client.post(url, second | {"quota": "7"})
    campaign.refresh_from_db()
    assert (campaign.title, campaign.quota) == ("Another title", 7)
    first, second = opened(client, url, "consent"), opened(client, url, "consent")
    client.post(url, first | {"contact": "Grace"})
    client.post(url, second | {"purpose": "To learn."})
    text = consent_text_current(campaign.pk)
    assert (text.contact, text.purpose) == ("Grace", "To learn.")
    client.post(url, opened(client, url, "consent"))
    assert consent_text_current(campaign.pk) == text
