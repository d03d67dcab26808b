"""The certificate of a release's labels: in its manifest, card, page, paper pack, and files."""

import hashlib
import json
import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from annotation.items.services.items import item_retire
from exports.models import Release
from exports.services import release_freeze
from quality.certificates.services import certificate_end
from quality.labels.services.sealing import split_seal
from quality.models import Inspection
from tests import factories
from tests.quality.certificates.worlds import ITEMS, certified_campaign, draw, freeze

pytestmark = pytest.mark.django_db


def released(campaign, folder):
    call_command("release", campaign.slug, "--format", "antique", "--to", str(folder))
    return json.loads((folder / "manifest.json").read_text())


def test_a_release_holds_the_certificate_of_its_labels(tmp_path):
    campaign, boss, _experts = certified_campaign()
    manifest = released(campaign, tmp_path)
    stated = manifest["certificate"]
    assert (stated["labels"], stated["certified"], stated["missing"], stated["wrong"]) == (ITEMS, ITEMS, 0, 0)
    assert (stated["audits"], stated["ended"]) == (1, 0)
    for arguments in ([], ["--certificate"], ["--certificate", "--head", stated["published"], "--key", stated["key"]]):
        call_command("release_verify", str(tmp_path), *arguments, stdout=StringIO())
    card = (tmp_path / "README.md").read_text()
    assert f"**At most 20% of {ITEMS} labels are wrong, at a risk of 5%**" in card and stated["published"] in card
    call_command("release_paper", str(tmp_path), "--to", str(tmp_path / "paper"), stdout=StringIO())
    said = "".join(path.read_text() for path in (tmp_path / "paper").iterdir() if path.suffix == ".tex")
    assert f"At most 20\\% of {ITEMS} labels differ from an expert" in said
    page = Client()
    page.force_login(boss)
    number = Release.objects.get().number
    text = page.get(reverse("release", args=[campaign.slug, number])).content.decode()
    assert f"At most 20% of {ITEMS} labels are wrong, at a risk of 5%" in text


def test_a_certificate_that_was_changed_is_found_though_the_checksums_fit(tmp_path):
    campaign, _boss, _experts = certified_campaign()
    released(campaign, tmp_path)
    record = tmp_path / "certificate/certificate.jsonl"
    record.write_text(record.read_text().replace('"seed":"8f3a"', '"seed":"8f3b"'))
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("release_verify", str(tmp_path), stdout=said)
    assert "line 3: doesn't follow the line before" in said.getvalue()


def test_the_record_of_another_audit_is_found_though_all_checksums_fit(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    released(certified_campaign()[0], first)
    released(certified_campaign(source="dice")[0], second)
    for name in ("labels.jsonl", "certificate.jsonl"):
        shutil.copy(second / "certificate" / name, first / "certificate" / name)
    manifest = json.loads((first / "manifest.json").read_text())
    other = json.loads((second / "manifest.json").read_text())
    for name in ("certificate/labels.jsonl", "certificate/certificate.jsonl"):
        manifest["files"][name] = other["files"][name]
    (first / "manifest.json").write_text(json.dumps(manifest))
    sums = [line.split("  ")[1] for line in (first / "SHA256SUMS").read_text().splitlines()]
    lines = [f"{hashlib.sha256((first / name).read_bytes()).hexdigest()}  {name}\n" for name in sums]
    (first / "SHA256SUMS").write_text("".join(lines))
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("release_verify", str(first), stdout=said)
    assert said.getvalue().startswith("certificate/certificate.jsonl: published isn't")


def test_a_release_without_all_certified_labels_has_no_record(tmp_path):
    campaign, boss, _experts = certified_campaign()
    item_retire(item=campaign.items.first(), reason="x", actor_id=boss.surrogate_id, now=timezone.now())
    stated = released(campaign, tmp_path)["certificate"]
    assert (stated["has_files"], stated["missing"], stated["certified"]) == (False, 1, ITEMS - 1)
    assert not (tmp_path / "certificate").exists()
    call_command("release_paper", str(tmp_path), "--to", str(tmp_path / "paper"), stdout=StringIO())
    said = "".join(path.read_text() for path in (tmp_path / "paper").iterdir() if path.suffix == ".tex")
    assert f"{ITEMS - 1} of the {ITEMS - 1} labels of this release are among these {ITEMS}" in said


def test_a_result_over_a_split_that_was_sealed_later_is_not_shown():
    splits = [NewSplit("train", 1, weight=1), NewSplit("test", 1, weight=3)]
    campaign, boss, _experts = certified_campaign(splits=splits)
    options = {
        "family": "antique",
        "ways": 1,
        "splits": ["train"],
        "seed": 0,
        "shards": 1,
    }
    release = release_freeze(campaign=campaign, actor_id=boss.surrogate_id, now=timezone.now(), **options)
    page = Client()
    page.force_login(boss)
    url = reverse("release", args=[campaign.slug, release.number])
    assert "Partly certified" in page.get(url).content.decode()
    Inspection.objects.update(verdict="good")
    split_seal(split=campaign.splits.get(name="test"), actor_id=None, now=timezone.now())
    assert "certified" not in page.get(url).content.decode()


def test_audits_without_a_certificate_are_counted_and_state_nothing(tmp_path):
    campaign, boss, _experts = certified_campaign()
    for is_drawn in (True, False):  # its seed may have been known
        other = freeze(campaign, boss)
        if is_drawn:
            draw(other, boss)
        certificate_end(certificate=other, actor_id=boss.surrogate_id, now=timezone.now())
    stated = released(campaign, tmp_path)["certificate"]
    assert (stated["number"], stated["audits"], stated["ended"]) == (1, 3, 2)
    other = factories.antique(items=2, n=1)
    options = {"family": "antique", "ways": 1, "splits": [], "seed": 0, "shards": 1}
    frozen = release_freeze(campaign=other, actor_id=boss.surrogate_id, now=timezone.now(), **options).frozen
    assert frozen["certificate"] is None


def test_the_labels_of_other_splits_leave_with_no_release(tmp_path):
    campaign, _boss, _experts = certified_campaign(
        splits=[NewSplit("train", 1, weight=1), NewSplit("test", 1, weight=1)]
    )
    call_command("release", campaign.slug, "--format", "antique", "--split", "train", "--to", str(tmp_path))
    stated = json.loads((tmp_path / "manifest.json").read_text())["certificate"]
    assert not stated["has_files"] and stated["labels"] == ITEMS and 0 < stated["certified"] < ITEMS
    assert not (tmp_path / "certificate").exists()
    assert "holds labels that this release doesn't have" in (tmp_path / "README.md").read_text()
