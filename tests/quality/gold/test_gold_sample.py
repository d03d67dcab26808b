"""What the page for gold keys says a file looks like is what it takes."""

import csv
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from accounts.models import Role
from annotation.tasktypes.registry import pages_of
from jobs.models import Job
from quality.models import GoldKey
from tests import factories

pytestmark = pytest.mark.django_db
CAMPAIGNS = {"nq": factories.campaign, "antique": factories.antique}


@pytest.mark.parametrize("task_type", sorted(CAMPAIGNS))
def test_the_sample_is_shown_and_can_be_imported_as_it_stands(task_type):
    campaign, manager, client = CAMPAIGNS[task_type](), factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    sample, address = pages_of(task_type).gold_sample, reverse("quality-gold", args=[campaign.slug])
    body = client.get(address).content.decode()
    assert escape(sample) in body and str(pages_of(task_type).gold_help) in body
    file = SimpleUploadedFile("gold.jsonl", sample.encode())
    client.post(address, {"file": file, "experts": 0})
    factories.run_jobs()
    job = Job.objects.get(kind="quality.import_gold")
    assert (job.state, job.error) == ("done", "")
    assert GoldKey.objects.count() == len(sample.splitlines())


@pytest.mark.django_db
@pytest.mark.parametrize("cell", ["3 4", "3;4", "3, 4", "[3, 4]", '["4", 3.0]', " 3|4 "])
def test_a_cell_lists_the_accepted_labels_in_any_usual_way(tmp_path, cell):
    campaign = factories.antique(items=0)
    write_key(tmp_path / "gold.csv", cell)
    call_command("import_gold", str(tmp_path / "gold.csv"), "--campaign", campaign.slug, stdout=StringIO())
    assert sorted(GoldKey.objects.get().accepted) == [3, 4]


@pytest.mark.django_db
@pytest.mark.parametrize("cell", ["5", "[3", "good", "[[3]]", "3.5"])
def test_what_lists_no_labels_is_refused_with_how_it_is_done(tmp_path, cell):
    campaign = factories.antique(items=0)
    write_key(tmp_path / "gold.csv", cell)
    with pytest.raises(
        CommandError, match=r"Row 2, accepted: expected some of 4, 3, 2, 1, as in 4 3 or \[4, 3\]; found"
    ):
        call_command("import_gold", str(tmp_path / "gold.csv"), "--campaign", campaign.slug)
    assert not GoldKey.objects.exists()


def write_key(path, cell):
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(
            [["Question ID", "question", "answer_id", "answer", "Accepted"], ["1", "how", "1_1", "so", cell]]
        )
