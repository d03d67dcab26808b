"""Visits that were joined to a person, and the person leaves: nothing of them is left under another name."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.identities import external_surrogate
from accounts.models import AuditEvent, Consent, ExternalIdentity
from accounts.selectors import consent_text_current
from annotation.models import Annotation, Assignment, EventChunk, Participation
from annotation.people.services.withdrawal import participation_consent, withdrawal_ask, withdrawals_apply
from annotation.work.services.events import Piece, events_store
from quality.models import RuleFiring
from quality.people.rules import Act, Collector, Condition
from quality.people.services.manager_acts import ManagerAct, person_act
from quality.people.services.reviews import ReviewError
from quality.people.services.rules import rule_add
from tests import factories
from tests.workforces.conftest import TERMS
from tests.workforces.link.panel import come, confirm, link, unsigned, work
from tests.workforces.test_joined_suspensions import known_and_visiting, named, standing_of
from workforces.models import Errand, Ticket
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


def leave(visit="s1"):
    Client().post(statement_path(Ticket.objects.get(remote_id=visit)), {"withdraw": "yes"})
    withdrawals_apply(timezone.now() + timedelta(days=7, hours=1))


@pytest.fixture
def twice():
    """Return a workforce at which one person answered two items in two visits, both joined; and the surrogate that is gone."""
    row = link(factories.antique(items=2, n=2))
    for visit in ("s1", "s2"):
        work(*come(unsigned(row, "p1", visit)))
    for one in Assignment.objects.all():
        events_store(
            assignment_id=one.pk, surrogate_id=one.surrogate_id, piece=Piece(1, [[1, "show"]]), now=timezone.now()
        )
    visits = set(Annotation.objects.values_list("surrogate_id", flat=True))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\np1,s2\n")
    factories.examine(row.campaign)
    [gone] = visits - {ExternalIdentity.objects.get().surrogate_id}
    return row, gone


def test_what_was_done_twice_is_unlinked_at_once(twice):
    row, gone = twice
    person = ExternalIdentity.objects.get().surrogate_id
    assert Annotation.objects.filter(surrogate_id=person).count() == 2
    for model in (Annotation, Assignment, Participation, Consent):
        assert not model.objects.filter(surrogate_id=gone).exists(), model
    assert EventChunk.objects.count() == EventChunk.objects.filter(assignment__surrogate_id=person).count() == 2
    assert not [
        event
        for event in AuditEvent.objects.all()
        if str(gone) in json.dumps(event.data) and str(person) in json.dumps(event.data)
    ]
    client = Client()
    client.force_login(factories.user(is_admin=True))
    assert client.get(reverse("quality-person", args=[row.campaign.slug, gone])).status_code == 404


def test_leaving_leaves_no_click_log_and_no_consent_in_force(twice):
    leave()
    assert not EventChunk.objects.exists()
    assert not Consent.objects.filter(withdrawn_at=None).exists()
    assert not Annotation.objects.filter(surrogate_id=ExternalIdentity.objects.get().surrogate_id).exists()


def test_a_firing_at_a_visit_of_who_left_leads_nowhere():
    row, client, person, _ = known_and_visiting()
    same = Condition(Collector.SAME, True, 0.5, window=5, least=2, act=Act.PAUSE)
    rule_add(campaign=row.campaign, condition=same, actor_id=person, now=timezone.now())
    work(*come(unsigned(row, "p1", "s3")))
    visit = Ticket.objects.get(remote_id="s3").surrogate_id
    come(unsigned(row, "p1", "s3"))  # a second tab: the list doubts both
    named(row, "s3")
    assert RuleFiring.objects.get().surrogate_id == visit
    leave()
    ticket = Ticket.objects.get(surrogate_id=visit)
    client.post(reverse("quality-decide", args=[row.campaign.slug, "ticket", ticket.pk]), {"choice": "accept"})
    factories.run_jobs()
    factories.examine(row.campaign)
    assert not Annotation.objects.filter(surrogate_id__in=[person, visit]).exists()
    assert not RuleFiring.objects.exists()


def test_an_act_about_a_visit_that_a_list_named_meanwhile_is_refused():
    row, client, person, visit = known_and_visiting()
    named(row)
    with pytest.raises(ReviewError, match="done any work in this campaign"):
        person_act(
            campaign=row.campaign,
            surrogate_id=visit,
            act=ManagerAct.SUSPEND,
            reason="Odd.",
            since=None,
            actor_id=person,
            now=timezone.now(),
        )
    assert standing_of(person) == "active"
    assert not Participation.objects.filter(surrogate_id=visit).exists()


def test_who_comes_back_after_leaving_is_told_of_a_new_pause():
    campaign = factories.antique(items=6, n=1)
    row = workforce_add(campaign=campaign, kind="mturk", terms=TERMS, actor_id=None, now=timezone.now())
    person, boss = external_surrogate(source=row.source, name="W1"), factories.user().surrogate_id
    Ticket.objects.create(
        workforce=row, remote_id="A1", surrogate_id=person, opened_at=timezone.now(), state="open", is_signed=True
    )

    def come_back():
        text = consent_text_current(campaign.pk)
        participation_consent(campaign=campaign, text_id=text.pk, surrogate_id=person, now=timezone.now())
        Participation.objects.get_or_create(campaign=campaign, surrogate_id=person)

    def manage(what):
        person_act(
            campaign=campaign,
            surrogate_id=person,
            act=what,
            reason="Odd.",
            since=None,
            actor_id=boss,
            now=timezone.now(),
        )

    come_back()
    manage(ManagerAct.PAUSE)
    manage(ManagerAct.REINSTATE)
    told = Errand.objects.filter(kind="notify", token__contains="paused")
    assert told.count() == 1
    withdrawal_ask(campaign=campaign, surrogate_id=person, now=timezone.now())
    withdrawals_apply(timezone.now() + timedelta(days=8))
    come_back()
    manage(ManagerAct.PAUSE)
    assert told.count() == 2
