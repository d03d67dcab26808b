"""A pause or suspension of a visit that nobody had confirmed becomes one of the person it turns out to be, with all of it."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import ExternalIdentity
from annotation.models import Annotation, Participation, Standing, StandingChange
from annotation.people.services.withdrawal import withdrawals_apply
from quality.models import Review, RuleFiring
from quality.people.rules import Act, Collector, Condition
from quality.people.services.reviews import ReviewError, review_decide
from quality.people.services.rules import rule_add
from tests import factories
from tests.workforces.link.panel import come, confirm, link, unsigned, work
from workforces.models import PayHold, PayRefusal, Ticket
from workforces.services.pay import pay_refusal_move
from workforces.services.statements import statement_path

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


def known_and_visiting(**campaign):
    """Return a panel's workforce, its manager, the person p1 whom a list named, and a visit of theirs that none named."""
    row, client = link(factories.antique(items=12, n=1, **campaign)), Client()
    client.force_login(factories.user(is_admin=True))
    work(*come(unsigned(row, "p1", "s1")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    person = ExternalIdentity.objects.get().surrogate_id
    factories.examine(row.campaign)
    work(*come(unsigned(row, "p1", "s2")))
    visit = Participation.objects.exclude(surrogate_id=person).get().surrogate_id
    return row, client, person, visit


def act(row, client, surrogate_id, what, reason="Odd."):
    page = reverse("quality-person", args=[row.campaign.slug, surrogate_id])
    client.post(page, {"act": what, "reason": reason})
    factories.run_jobs()


def named(row, visit="s2"):
    confirm(row, f"PROLIFIC_PID,SESSION_ID\np1,{visit}\n")
    factories.examine(row.campaign)
    factories.run_jobs()


def standing_of(person):
    return Participation.objects.get(surrogate_id=person).standing


def test_pay_that_is_held_for_a_paused_visit_is_held_for_the_person():
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, "pause")
    until = PayHold.objects.get().until
    named(row)
    assert (standing_of(person), Review.objects.get().surrogate_id) == (Standing.PAUSED, person)
    assert (PayHold.objects.get().surrogate_id, PayHold.objects.get().until) == (person, until)
    act(row, client, person, "reinstate")
    assert not PayHold.objects.exists()


def test_the_reason_for_a_visit_is_the_reason_that_the_person_reads():
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, "suspend", "Copied answers.")
    named(row)
    change = StandingChange.objects.filter(surrogate_id=person).get()
    assert (change.because["reason"], change.changed_by_id is not None) == ("Copied answers.", True)


def test_two_reviews_become_one_with_the_evidence_of_both_and_the_earlier_time():
    row, client, person, visit = known_and_visiting()
    act(row, client, person, "pause", "First.")
    act(row, client, visit, "pause", "Second.")
    soon = timezone.now() + timedelta(hours=1)
    PayHold.objects.filter(surrogate_id=visit).update(until=soon)
    named(row)
    review = Review.objects.get()
    assert (review.surrogate_id, review.state, review.evidence["manager"]) == (person, "open", "First.")
    assert review.decide_by == PayHold.objects.get().until == soon
    act(row, client, person, "suspend", "Both.")
    assert (standing_of(person), Review.objects.get().state) == (Standing.SUSPENDED, "suspended")


@pytest.mark.parametrize(("theirs", "visits"), [("suspend", "pause"), ("pause", "suspend")])
def test_nothing_is_left_to_decide_about_who_is_suspended(theirs, visits):
    row, client, person, visit = known_and_visiting()
    act(row, client, person, theirs)
    act(row, client, visit, visits)
    named(row)
    assert standing_of(person) == Standing.SUSPENDED
    assert list(Review.objects.values_list("state", "surrogate_id")) == [("suspended", person)]
    assert not PayHold.objects.exists()
    act(row, client, person, "reinstate")
    assert (standing_of(person), Review.objects.get().state) == (Standing.ACTIVE, "reinstated")
    assert not Annotation.objects.filter(surrogate_id=person, state="excluded").exists()


def test_who_is_reinstated_is_suspended_by_no_visit_any_more():
    row, client, person, visit = known_and_visiting()
    act(row, client, person, "suspend")
    act(row, client, visit, "suspend")
    named(row)
    act(row, client, person, "reinstate")
    assert standing_of(person) == Standing.ACTIVE
    assert set(Review.objects.values_list("state", flat=True)) == {"reinstated"}


@pytest.mark.parametrize(("what", "standing"), [("suspend", Standing.SUSPENDED), ("pause", Standing.PAUSED)])
def test_leaving_before_the_list_comes_leaves_no_standing_behind(what, standing):
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, what)
    Client().post(statement_path(Ticket.objects.get(remote_id="s1")), {"withdraw": "yes"})
    withdrawals_apply(timezone.now() + timedelta(days=7, hours=1))
    assert not Participation.objects.filter(surrogate_id=person).exists()
    named(row)
    assert (standing_of(person), Review.objects.get().surrogate_id) == (standing, person)
    assert not Annotation.objects.filter(state="counted").exists()
    assert not Participation.objects.filter(surrogate_id=visit).exists()
    work(*come(unsigned(row, "p1", "s3")))
    named(row, "s3")
    assert standing_of(person) == standing


def test_an_open_review_of_who_is_suspended_does_not_lift_the_suspension_by_the_way():
    row, client, person, _visit = known_and_visiting()
    act(row, client, person, "suspend")
    now = timezone.now()
    review = Review.objects.create(campaign=row.campaign, surrogate_id=person, opened_at=now, decide_by=now)
    with pytest.raises(ReviewError, match="is suspended"):
        review_decide(review=review, suspend=False, reason="", refuse_pay=False, actor_id=person, now=now)


def test_the_visits_review_may_be_the_older_one():
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, "pause", "First.")
    act(row, client, person, "pause", "Second.")
    work(*come(unsigned(row, "honest", "h1")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\nhonest,h1\n")
    assert ExternalIdentity.objects.filter(name="honest").exists()
    assert list(Review.objects.values_list("surrogate_id", "state")) == [(person, "open")]


def test_a_hold_that_ran_out_does_not_shorten_another():
    row, client, person, visit = known_and_visiting()
    act(row, client, person, "pause")
    PayHold.objects.update(until=timezone.now() - timedelta(hours=1))
    act(row, client, visit, "pause")
    until = PayHold.objects.get(surrogate_id=visit).until
    named(row)
    assert (PayHold.objects.get().surrogate_id, PayHold.objects.get().until) == (person, until)


def test_the_hold_and_the_ticket_of_who_left_are_of_one_person():
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, "pause")
    Client().post(statement_path(Ticket.objects.get(remote_id="s1")), {"withdraw": "yes"})
    withdrawals_apply(timezone.now() + timedelta(days=7, hours=1))
    named(row)
    assert PayHold.objects.get().surrogate_id == Ticket.objects.get(remote_id="s2").surrogate_id == person


def test_who_was_reinstated_as_a_visit_is_not_paused_for_the_same_facts_as_a_person():
    row, client, person, _ = known_and_visiting()
    same = Condition(Collector.SAME, True, 0.5, window=5, least=2, act=Act.PAUSE)
    rule_add(campaign=row.campaign, condition=same, actor_id=person, now=timezone.now())
    work(*come(unsigned(row, "p1", "s3")))
    visit = Ticket.objects.get(remote_id="s3").surrogate_id
    come(unsigned(row, "p1", "s3"))  # a second tab: the list doubts both, and what was done is examined meanwhile
    named(row, "s3")
    assert standing_of(visit) == Standing.PAUSED
    act(row, client, visit, "reinstate", "They are all 4.")
    ticket = Ticket.objects.get(surrogate_id=visit)
    client.post(reverse("quality-decide", args=[row.campaign.slug, "ticket", ticket.pk]), {"choice": "accept"})
    factories.run_jobs()
    factories.examine(row.campaign)
    assert Annotation.objects.filter(surrogate_id=person).count() == 4
    assert (standing_of(person), RuleFiring.objects.get().surrogate_id) == (Standing.ACTIVE, person)


@pytest.mark.parametrize("suspend", [True, False])
def test_a_decision_about_a_visit_that_a_list_named_meanwhile_is_refused(suspend):
    row, client, person, visit = known_and_visiting()
    act(row, client, visit, "pause")
    review = Review.objects.get()  # as a manager's request read it
    named(row)
    options = {"refuse_pay": False, "actor_id": person, "now": timezone.now()}
    with pytest.raises(ReviewError, match="status has changed"):
        review_decide(review=review, suspend=suspend, reason="Odd.", **options)
    assert (standing_of(person), Review.objects.get().state) == (Standing.PAUSED, "open")


def test_a_suspended_person_of_a_panel_appeals_by_their_statement():
    row, client, person, _visit = known_and_visiting()
    statement = statement_path(Ticket.objects.get(remote_id="s1"))
    standing = f"{statement}standing/"
    assert standing not in Client().get(statement).content.decode()
    act(row, client, person, "suspend", "Copied answers.")
    theirs = Client()
    assert standing in theirs.get(statement).content.decode()
    assert "Copied answers." in theirs.get(standing).content.decode()
    theirs.post(standing, {"text": "They are mine."})
    assert Review.objects.get().appeal == "They are mine."
    decisions = client.get(reverse("quality-decisions", args=[row.campaign.slug])).content.decode()
    assert "They are mine." in decisions
    assert "They are mine." in theirs.get(standing).content.decode()
    assert theirs.get(f"{statement[:-2]}x/standing/").status_code == 404


def test_two_refusals_of_what_turns_out_to_be_one_person_become_one():
    campaign = factories.antique(items=1)
    one, other = (factories.annotator(campaign).surrogate_id for _ in range(2))
    for person in (one, other):
        PayRefusal.objects.create(campaign=campaign, surrogate_id=person, at=timezone.now())
    with transaction.atomic():
        pay_refusal_move(campaign=campaign, before=one, after=other)
    assert PayRefusal.objects.get().surrogate_id == other
    with transaction.atomic():
        pay_refusal_move(campaign=campaign, before=other, after=one)
    assert PayRefusal.objects.get().surrogate_id == one
