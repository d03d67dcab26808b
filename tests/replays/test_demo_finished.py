"""The finished campaigns of the demo: the archives that are shipped, and how they are made."""

import gzip
import io
import json
import tarfile
from datetime import timedelta

import pytest
from django.db.models import Max, Min
from django.test import Client
from django.utils import timezone

from accounts.models import Membership, Role, User
from annotation.models import Annotation, Campaign, Participation
from evaluation.models import JudgedSystem, SystemScores
from jobs.models import Job
from quality.models import Case, Inspection, QualitySnapshot, Review, StudySnapshot, Verdict
from replays.demo import finished, panel, seed
from replays.demo.finished import archive_of, load_finished
from replays.demo.relevance import CROWD_SLUG, seed_for_crowd
from replays.demo.seed import seed_facts, seed_open, seed_people, seed_systems
from workforces.models import Workforce

pytestmark = pytest.mark.django_db

PAGES = (
    "",
    "items/",
    "members/",
    "recruitment/",
    "settings/",
    "releases/",
    "systems/",
    "summary/",
    "gold/",
    "experts/",
    "policy/",
    "behavior/",
    "studies/",
)


@pytest.fixture
def loaded(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    now = timezone.now() + timedelta(days=40, hours=3)
    load_finished(now=now)
    seed_people()
    return now


def is_finished(campaign, pairs):
    """Check that everything of the panel's campaign was decided, and that its numbers are there."""
    assert (campaign.state, campaign.is_synthetic) == ("closed", True)
    labels = Verdict.objects.filter(campaign=campaign, superseded_at=None)
    rules = set(labels.values_list("rule", flat=True))
    assert labels.count() == pairs
    assert "majority" in rules and rules & {"second", "expert"}
    assert Participation.objects.filter(campaign=campaign, standing="suspended").exists()
    waiting = (
        Case.objects.filter(campaign=campaign, state__in=["open", "consensus"]),
        Inspection.objects.filter(campaign=campaign, verdict=""),
        Review.objects.filter(campaign=campaign, state="open"),
        Job.objects.filter(scope_id=campaign.pk).exclude(state="done"),
    )
    assert [rows.count() for rows in waiting] == [0, 0, 0, 0]
    assert QualitySnapshot.objects.get(campaign=campaign).data["summary"]["suspended"] >= 1


def test_the_shipped_archives_are_loaded_beside_each_other_and_can_be_worked_on(loaded):
    questions, pairs = Campaign.objects.get(slug=seed.DONE_SLUG), Campaign.objects.get(slug=panel.SLUG)
    is_finished(pairs, panel.PAIRS)
    assert (questions.state, StudySnapshot.objects.filter(campaign=questions).exists()) == ("open", True)
    assert Case.objects.filter(campaign=questions, state="open").count() == 4  # for eva and finn
    compared = SystemScores.objects.get(campaign=questions).data["kinds"]["passage"]["judged"]
    assert [row["system"] for row in compared] == ["first-paragraph", "synthetic-reader"]
    assert compared[1]["own"]["right"]["share"] > compared[0]["own"]["right"]["share"]
    load_finished(now=loaded)  # again changes nothing
    seed_open(now=timezone.now(), stderr=io.StringIO())  # its rows get keys that are free
    assert Campaign.objects.count() == 3


def test_what_is_open_is_made_once(loaded):
    for _ in range(2):
        seed_facts(now=timezone.now(), stderr=io.StringIO())
        seed_systems(now=timezone.now(), stderr=io.StringIO())
        seed_for_crowd(now=timezone.now(), stderr=io.StringIO())
    slugs = (seed.FACTS_SLUG, CROWD_SLUG, seed.SYSTEMS_SLUG)
    facts, pairs, answers = (Campaign.objects.get(slug=slug) for slug in slugs)
    assert (answers.task_type, answers.state) == ("correctness", "open")
    assert list(JudgedSystem.objects.values_list("name", flat=True)) == ["long-reader", "short-reader"]
    assert (facts.task_type, facts.state, facts.items.count()) == ("kbqa", "open", 10)
    assert (pairs.task_type, pairs.state, pairs.is_synthetic) == ("antique", "open", False)
    assert not Membership.objects.filter(scope_id=pairs.pk, role=Role.ANNOTATOR).exists()  # nobody to be marked with it


def test_their_people_log_in_with_the_passwords_of_this_demo(loaded):
    logins = seed_people()
    for email, password in logins.items():
        user = User.objects.get(email=email)
        assert user.check_password(password)
        assert user.is_admin is (email == seed.PEOPLE["admin"])


def test_no_demo_has_the_secrets_of_another(loaded):
    row = Workforce.objects.get(campaign__slug=panel.SLUG)
    with tarfile.open(archive_of(panel.SLUG)) as tar:
        shipped = gzip.decompress(tar.extractfile("rows/workforces.Workforce.jsonl.gz").read()).decode()
    assert str(row.pk) in shipped
    assert row.secret not in shipped and row.key not in shipped


def test_a_campaign_is_not_there_before_its_secrets_are_new(settings, tmp_path, monkeypatch):
    def killed():
        raise KeyboardInterrupt

    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(finished, "new_token", killed)
    with pytest.raises(KeyboardInterrupt):
        load_finished(now=timezone.now())
    assert not Campaign.objects.filter(slug=panel.SLUG).exists()
    monkeypatch.undo()
    load_finished(now=timezone.now())  # what the first attempt left in storage is no obstacle
    assert Campaign.objects.filter(slug=panel.SLUG).exists()


def test_times_are_as_far_back_as_when_the_archives_were_made(loaded):
    for slug in finished.MAKERS:
        with tarfile.open(archive_of(slug)) as tar:
            made_at = json.load(tar.extractfile("manifest.json"))["made_at"]
        days = (loaded - timezone.datetime.fromisoformat(made_at)).days
        assert days >= 40
        times = Annotation.objects.filter(campaign__slug=slug).aggregate(
            first=Min("submitted_at"), last=Max("submitted_at")
        )
        assert timedelta(0) <= loaded - times["last"] < timedelta(days=5)
        assert timedelta(0) < times["last"] - times["first"] < timedelta(days=10)
    taken = QualitySnapshot.objects.get(campaign__slug=panel.SLUG).taken_at
    assert timedelta(0) <= loaded - taken < timedelta(days=2)


@pytest.mark.parametrize("slug", finished.MAKERS)
def test_their_pages_show_no_error(loaded, slug):
    client = Client()
    client.force_login(User.objects.get(email=seed.PEOPLE["admin"]))
    shown = {page: client.get(f"/campaigns/{slug}/{page}").status_code for page in PAGES}
    assert [page for page, status in shown.items() if status not in (200, 404)] == []
    assert list(shown.values()).count(200) >= 9


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_they_can_be_made_again(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(finished, "HERE", tmp_path / "finished")
    finished.write_finished(stderr=io.StringIO())
    is_finished(Campaign.objects.get(slug=panel.SLUG), panel.PAIRS)
    assert all(archive_of(slug).stat().st_size > 50_000 for slug in finished.MAKERS)
