"""Gold checks reach who tries to get around them, and nobody uses up those of others."""

import pytest
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Injection, Participation, Standing
from annotation.services.claims import slot_claim_next
from annotation.services.work import assignment_skip
from quality.models import GoldCheck, GoldKey
from quality.rules.policy import Policy
from quality.services.gold import gold_plan_due
from tests import factories
from tests.workforces.acts import by_link, enter, lapse, rounds, send
from tests.workforces.panel import come, link, unsigned
from workforces.models import Ticket


def gold_shown(campaign):
    return Assignment.objects.filter(campaign=campaign, item__batch__purpose="gold")


def skip(campaign, person):
    held = factories.claim(campaign, person)
    assignment_skip(
        assignment_id=held.pk, surrogate_id=person.surrogate_id, reason="unclear", note="", now=timezone.now()
    )


def place_of(campaign, person):
    return Participation.objects.get(campaign=campaign, surrogate=person.surrogate_id)


@pytest.mark.django_db
def test_who_skips_what_comes_first_after_each_answer_is_checked_and_paused():
    policy = Policy(gold_rate=0.2, gold_first=5, gold_first_items=10, inspection_rate=0)
    campaign = factories.antique(items=120, n=1, gold=30, policy=policy)
    person = factories.annotator(campaign)
    answers = 0
    while place_of(campaign, person).standing != Standing.PAUSED if answers else True:
        skip(campaign, person)
        factories.vote(campaign, person, 1)
        factories.examine(campaign)
        answers += 1
        assert answers < 40, "was never paused"
    assert GoldCheck.objects.filter(is_hit=False).count() >= 3
    assert gold_shown(campaign).filter(state="skipped").exists()


@pytest.mark.django_db
def test_an_exposure_that_was_skipped_is_replaced_once():
    policy = Policy(gold_rate=0, gold_first=1, gold_first_items=1)
    campaign = factories.antique(items=30, n=1, gold=5, policy=policy)
    person = factories.annotator(campaign)
    skip(campaign, person)
    for _ in range(12):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
        gold_plan_due(timezone.now())
    assert sorted(gold_shown(campaign).values_list("state", flat=True)) == ["skipped", "submitted"]
    assert sorted(Injection.objects.values_list("is_replaced", flat=True)) == [False, True]


@pytest.mark.django_db
def test_exposures_come_at_the_places_that_were_drawn_whoever_skips():
    """Places count the items that are handed out: the same for who answers all and who skips every other."""
    policy = Policy(gold_rate=0.1, gold_first=3, gold_first_items=12, inspection_rate=0)
    campaign = factories.antique(items=80, n=2, gold=30, policy=policy)
    person = factories.annotator(campaign)
    for number in range(40):
        if number % 2:
            skip(campaign, person)
        else:
            factories.vote(campaign, person, 4)
        gold_plan_due(timezone.now())
    shown = list(Assignment.objects.filter(surrogate=person.surrogate_id).order_by("claimed_at", "slot__pk"))
    served = [row.slot_id for row in shown]
    for injection in Injection.objects.filter(is_replaced=False, slot__in=served):
        assert served.index(injection.slot_id) >= injection.position
    assert gold_shown(campaign).filter(state="submitted").exists()
    assert gold_shown(campaign).filter(state="skipped").exists()


@pytest.mark.django_db
def test_invented_visits_leave_the_gold_of_those_who_are_known():
    campaign = factories.antique(items=100, n=1, gold=10, policy=Policy(gold_most_exposures=4))
    row = link(campaign, items_per_ticket=25)
    for number in range(60):
        come(unsigned(row, f"x{number}", f"y{number}"))
    assert 2 * GoldKey.objects.aggregate(shown=Sum("exposures"))["shown"] <= 10 * 4
    come(by_link(row, "known", "s1"), Client())
    mine = Participation.objects.order_by("-pk")[0]
    planned = Injection.objects.filter(surrogate=mine.surrogate_id, position__lt=10).count()
    slot_claim_next(campaign=campaign, surrogate_id=mine.surrogate_id, now=timezone.now())
    assert planned >= 1


@pytest.mark.django_db(transaction=True)
def test_gold_of_a_hit_that_was_returned_comes_again(desk):
    policy = Policy(gold_rate=0.1, gold_first=4, gold_first_items=8, inspection_rate=0)
    made = desk(items=26, n=1, gold=12, policy=policy, terms={"items_per_ticket": 8, "places": 1})
    rounds(made)
    worker = made.worker("w")
    taken = worker.take()
    page = enter(taken.frames[0])
    for _ in range(8):
        page = send(page.form_to("/answer/"), label="1")
    worker._give_back(taken)
    lapse(made, Ticket.objects.get())
    factories.examine(made.campaign)
    shown = gold_shown(made.campaign).count()
    assert (shown, GoldCheck.objects.count()) == (4, 0)
    gold_plan_due(timezone.now())
    page = enter(worker.take().frames[0])
    while form := page.form_to("/answer/"):
        page = send(form, label="1")
        gold_plan_due(timezone.now())
    assert gold_shown(made.campaign).count() > shown
    assert Annotation.objects.filter(state="provisional", item__batch__purpose="gold").exists()
