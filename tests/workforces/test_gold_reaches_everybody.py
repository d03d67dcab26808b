"""Gold checks reach who tries to get around them, and nobody uses up those of others."""

from itertools import pairwise

import pytest
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Injection, Participation, Standing
from annotation.services.claims import slot_claim_next
from annotation.services.items import item_retire
from annotation.services.work import assignment_skip
from quality.models import GoldCheck, GoldKey, Review
from quality.rules.policy import Policy
from quality.services.people import review_decide
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
    campaign = factories.antique(items=40, n=1, gold=5, policy=policy)
    person = factories.annotator(campaign)
    skip(campaign, person)
    for _ in range(25):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    assert sorted(gold_shown(campaign).values_list("state", flat=True)) == ["skipped", "submitted"]
    assert sorted(Injection.objects.values_list("is_replaced", flat=True)) == [False, True]


@pytest.mark.django_db
def test_who_only_skips_uses_up_few_keys_and_comes_before_a_manager():
    campaign = factories.antique(items=150, n=1, gold=24, policy=Policy(inspection_rate=0))
    person = factories.annotator(campaign)
    for number in range(120):
        if place_of(campaign, person).standing == Standing.PAUSED if number else False:
            break
        skip(campaign, person)
    review = Review.objects.get(campaign=campaign)
    assert (review.state, review.evidence) == ("open", {"passed": 5, "checks": 0})
    assert gold_shown(campaign).count() <= 7
    manager = factories.user()
    review_decide(
        review=review, suspend=False, reason="", refuse_pay=False, actor_id=manager.surrogate_id, now=timezone.now()
    )
    for _ in range(12):  # reinstated: what was looked at is not held against them again
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    assert place_of(campaign, person).standing == Standing.ACTIVE


@pytest.mark.django_db
def test_who_answers_faster_than_the_worker_looks_meets_as_much_gold():
    policy = Policy(gold_rate=0.1, gold_first=0, gold_first_items=0)
    campaign = factories.antique(items=90, n=1, gold=24, policy=policy)
    person = factories.annotator(campaign)
    for _ in range(80):
        factories.vote(campaign, person, 4)
    shown = list(Assignment.objects.filter(surrogate=person.surrogate_id).order_by("claimed_at"))
    gold = [number for number, row in enumerate(shown) if row.item.batch.purpose == "gold"]
    assert len(gold) == 8
    assert all(later - earlier > 1 for earlier, later in pairwise(gold))


@pytest.mark.django_db
def test_a_key_whose_item_was_retired_takes_no_check():
    policy = Policy(gold_rate=0, gold_first=4, gold_first_items=8)
    campaign = factories.antique(items=40, n=1, gold=10, policy=policy)
    manager = factories.user()
    for key in GoldKey.objects.order_by("pk")[:5]:
        item_retire(item=key.item, reason="unclear", actor_id=manager.surrogate_id, now=timezone.now())
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    planned = GoldKey.objects.filter(exposures__gt=0, item__state="active").order_by("pk")[0]
    item_retire(item=planned.item, reason="unclear", actor_id=manager.surrogate_id, now=timezone.now())
    for _ in range(30):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    assert GoldCheck.objects.count() >= 4


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
    page = enter(worker.take().frames[0])
    while form := page.form_to("/answer/"):
        page = send(form, label="1")
    assert gold_shown(made.campaign).count() > shown
    assert Annotation.objects.filter(state="provisional", item__batch__purpose="gold").exists()
