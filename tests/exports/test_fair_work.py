"""What a release says of pay, exclusions and appeals; what earlier ones hold that no longer counts; pages in two splits."""

import gzip
import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from exports.fair_work import fair_work_text
from exports.models import Release
from quality.labels.services.sealing import split_seal
from quality.models import Inspection
from tests import factories
from tests.workforces.link.panel import link
from workforces.models import LedgerEntry, Ticket

pytestmark = pytest.mark.django_db


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def release(campaign, folder, *options):
    call_command("release", campaign.slug, *options, "--to", str(folder))
    return json.loads((folder / "manifest.json").read_text())


def paid(campaign, people, *, cents, seconds):
    """Let people have been paid so much each by the panel, for answers that took so long."""
    panel = link(campaign)
    for number, person in enumerate(people):
        Annotation.objects.filter(surrogate=person.surrogate_id).update(seconds=seconds[number], active_seconds=None)
        ticket = Ticket.objects.create(
            workforce=panel,
            surrogate_id=person.surrogate_id,
            remote_id=str(number),
            code=str(number),
            state="approved",
            opened_at=timezone.now(),
        )
        LedgerEntry.objects.create(
            campaign=campaign,
            workforce=panel,
            ticket=ticket,
            surrogate_id=person.surrogate_id,
            kind="reward",
            cents=cents,
            fee_cents=2,
            at=timezone.now(),
        )


def test_a_release_says_how_people_were_paid(tmp_path):
    campaign = factories.campaign(n=5, items=1)
    people = [factories.annotator(campaign) for _ in range(5)]
    for person in people:
        factories.annotate(campaign, person)
    paid(campaign, people, cents=10, seconds=[30, 36, 40, 45, 60])  # 1200, 1000, 900, 800 and 600 cents an hour
    annotation_exclude(
        annotation=Annotation.objects.earliest("pk"), because="manager", actor_id=None, now=timezone.now()
    )
    work = release(campaign, tmp_path, "--format", "nq-original", "--ways", "4")["work"]
    assert (work["people_paid"], work["reward_cents"], work["bonus_cents"], work["fee_cents"]) == (5, 50, 0, 10)
    assert work["cents_an_hour"] == {"server": {"p10": 680, "median": 900}}  # 600 + 0.4 of the way to 800
    assert work["annotations"] == {"counted": 4, "excluded": 1}
    text = (tmp_path / "FAIR-WORK.md").read_text()
    assert "5 people were paid $0.50 in rewards and $0.00 in bonuses; fees of $0.10 came on top." in text
    assert "half of them earned $9.00 an hour or more, and nine of ten $6.80 or more." in text
    assert "excluded: 1" in text
    call_command("release_verify", str(tmp_path))


def test_of_four_people_no_distribution_is_told(tmp_path):
    campaign = factories.campaign(n=4, items=1)
    people = [factories.annotator(campaign) for _ in range(4)]
    for person in people:
        factories.annotate(campaign, person)
    paid(campaign, people, cents=10, seconds=[30, 36, 40, 45])
    assert release(campaign, tmp_path, "--format", "nq-original", "--ways", "4")["work"]["cents_an_hour"] == {}
    assert "there are too few people" in (tmp_path / "FAIR-WORK.md").read_text()


def test_where_nobody_was_paid_here_it_says_so(tmp_path):
    campaign = factories.campaign(n=1, items=1)
    factories.annotate(campaign, factories.annotator(campaign))
    manifest = release(campaign, tmp_path, "--format", "nq-original", "--ways", "1")
    assert "Nobody was paid through this platform." in (tmp_path / "FAIR-WORK.md").read_text()
    assert "All annotations count." in fair_work_text(manifest)
    assert fair_work_text({"work": None}) == ""


def test_what_an_earlier_release_holds_and_counts_no_more_is_in_the_next_one(tmp_path, capsys):
    campaign = factories.campaign(n=2, items=2)
    for person in (factories.annotator(campaign), factories.annotator(campaign)):
        for _ in range(2):
            factories.annotate(campaign, person)
    first = release(campaign, tmp_path / "first", "--format", "nq-original", "--ways", "2")
    assert first["errata"] == 0
    assert not (tmp_path / "first/sidecar/errata.jsonl.gz").exists()
    wrong = Annotation.objects.earliest("pk")
    annotation_exclude(annotation=wrong, because="manager", actor_id=None, now=timezone.now())
    row = {"release": 1, "item_id": wrong.item.published_id, "annotation_id": wrong.published_id, "because": "manager"}
    capsys.readouterr()
    call_command("release_errata", campaign.slug, "1")
    assert json.loads(capsys.readouterr().out) == row
    factories.annotate(campaign, factories.annotator(campaign))
    second = release(campaign, tmp_path / "second", "--format", "nq-original", "--ways", "2")
    assert second["errata"] == 1
    assert rows(tmp_path / "second/sidecar/errata.jsonl.gz") == [row]
    assert "lists 1 annotations that earlier releases" in (tmp_path / "second/README.md").read_text()
    call_command("release_verify", str(tmp_path / "second"))
    other = release(campaign, tmp_path / "other", "--format", "nq-simplified", "--ways", "2")
    assert other["errata"] == 0  # of another form
    call_command("release", campaign.slug, "--again", "1", "--to", str(tmp_path / "again"))
    for path in (tmp_path / "first").rglob("*"):  # what was released never changes
        assert (
            path.is_dir()
            or path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "first")).read_bytes()
        )


def test_errata_of_a_release_that_tells_what_was_sealed_since_are_not_told():
    campaign = factories.campaign(n=1, items=12)
    person = factories.annotator(campaign)
    for _ in range(12):
        factories.annotate(campaign, person)
    factories.examine(campaign)
    Inspection.objects.filter(campaign=campaign).update(verdict="right")
    Release.objects.create(
        campaign=campaign, number=1, family="nq-original", ways=1, splits=["dev"], created_at=timezone.now()
    )
    split_seal(split=campaign.splits.get(), actor_id=None, now=timezone.now())
    with pytest.raises(CommandError, match="has no release 1, or"):
        call_command("release_errata", campaign.slug, "1")


def test_pages_that_are_in_two_splits_are_counted(tmp_path):
    campaign = factories.campaign(splits=[NewSplit("train", 1), NewSplit("dev", 1), NewSplit("test", 1)])
    factories.import_page(campaign, factories.PAGE.replace("Lund", "Bergen"), name="other.html")
    factories.import_rows(
        campaign,
        [
            {"id": f"q{number}", "question": f"question {number}?", "document": page}
            for number, page in enumerate(["harbour.html"] * 20 + ["other.html"])
        ],
    )
    factories.launch(campaign)
    person = factories.annotator(campaign)
    for _ in range(21):
        factories.annotate(campaign, person)
    found = release(campaign, tmp_path, "--format", "nq-original", "--ways", "1")["page_overlap"]
    assert found == [{"splits": pair, "pages": 1} for pair in (["train", "dev"], ["train", "test"], ["dev", "test"])]
    assert (
        "Pages that two splits share: 1 in train and dev; 1 in train and test; 1 in dev and test."
        in (tmp_path / "README.md").read_text()
    )


def test_splits_that_keep_pages_together_share_none(tmp_path):
    campaign = factories.campaign(splits=[NewSplit("train", 1), NewSplit("dev", 1)], group_by="document")
    for number in range(8):
        factories.import_page(campaign, factories.PAGE.replace("Lund", f"Port {number}"), name=f"{number}.html")
    factories.import_rows(
        campaign,
        [
            {"id": f"q{number}", "question": f"question {number}?", "document": f"{number % 8}.html"}
            for number in range(16)
        ],
    )
    factories.launch(campaign)
    person = factories.annotator(campaign)
    for _ in range(16):
        factories.annotate(campaign, person)
    found = release(campaign, tmp_path, "--format", "nq-original", "--ways", "1")["page_overlap"]
    assert found == [{"splits": ["train", "dev"], "pages": 0}]
    assert "Pages that two splits share: none." in (tmp_path / "README.md").read_text()
