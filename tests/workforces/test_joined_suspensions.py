"""A suspension of a visit that nobody had confirmed becomes one of the person it turns out to be."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import ExternalIdentity
from annotation.models import Annotation, Participation, Standing
from quality.models import Review
from tests import factories
from tests.workforces.panel import come, confirm, link, unsigned, work

pytestmark = pytest.mark.django_db


def test_a_suspension_that_a_list_gives_to_a_person_takes_their_work_out_and_can_be_lifted():
    row = link(factories.antique(items=12, n=1))
    campaign, client = row.campaign, Client()
    client.force_login(factories.user(is_admin=True))
    work(*come(unsigned(row, "p1", "s1")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    person = ExternalIdentity.objects.get().surrogate_id
    factories.examine(campaign)
    work(*come(unsigned(row, "p1", "s2")))
    visit = Participation.objects.exclude(surrogate_id=person).get().surrogate_id
    client.post(reverse("quality-person", args=[campaign.slug, visit]), {"act": "suspend", "reason": "Odd."})
    factories.run_jobs()
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\np1,s2\n")
    factories.examine(campaign)
    factories.run_jobs()
    place = Participation.objects.filter(surrogate_id=person)
    assert (place.get().standing, Review.objects.get().surrogate_id) == (Standing.SUSPENDED, person)
    assert not Annotation.objects.filter(state="counted").exists()
    page = reverse("quality-person", args=[campaign.slug, person])
    client.post(page, {"act": "reinstate", "reason": "A mistake."})
    factories.run_jobs()
    assert place.get().standing == Standing.ACTIVE
    assert Annotation.objects.filter(state="counted", surrogate_id=person).exists()
