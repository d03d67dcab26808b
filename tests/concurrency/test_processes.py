"""Claims by real processes on one database file, as several web processes would make them."""

import json
import os
import subprocess
import sys

import pytest
from django.db import connection

from annotation.models import Slot
from tests import factories
from tests.conftest import ROOT

SCRIPT = """
import json, sys, django
from config.settings import test
name = sys.argv[1]
if name: test.DATABASES["default"]["NAME"] = name
django.setup()
from django.utils import timezone
from annotation.models import Campaign
from annotation.slots.services.claims import slot_claim_next
campaign = Campaign.objects.get(slug=sys.argv[2])
held = []
for surrogate in sys.argv[3:]:
    claim = slot_claim_next(campaign=campaign, surrogate_id=surrogate, now=timezone.now())
    held.append(claim.assignment.slot_id if claim.assignment else None)
print(json.dumps(held))
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_forty_claimers_in_eight_processes_make_exactly_five_holders():
    campaign = factories.campaign(n=5, items=1)
    people = [str(factories.annotator(campaign).surrogate_id) for _ in range(40)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
    name = str(connection.settings_dict["NAME"])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, name, campaign.slug, *people[start : start + 5]],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for start in range(0, 40, 5)
    ]
    held = []
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        held += [slot for slot in json.loads(output) if slot]
    assert len(held) == len(set(held)) == 5
    assert Slot.objects.filter(state="held").count() == 5
