"""What the page for gold keys says a file looks like is what it takes."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
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
    assert escape(sample) in client.get(address).content.decode()
    file = SimpleUploadedFile("gold.jsonl", sample.encode())
    client.post(address, {"file": file, "experts": 0})
    factories.run_jobs()
    job = Job.objects.get(kind="quality.import_gold")
    assert (job.state, job.error) == ("done", "")
    assert GoldKey.objects.count() == len(sample.splitlines())
