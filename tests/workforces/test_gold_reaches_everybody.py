"""Gold checks reach who tries to get around them, and nobody uses up those of others."""

import pytest
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from annotation.items.services.items import item_retire
from annotation.models import Annotation, Assignment, Injection, Participation, Standing
from annotation.work.services.submissions import assignment_skip
from annotation.work.services.undo import submission_undo
from quality.dashboard.selectors.summary import people_of
from quality.gold.services.exposures import MOST_UPSETTING
from quality.models import GoldCheck, GoldKey, Review
from quality.people.services.reviews import review_decide
from quality.policies.policy import Policy
from tests import factories
from tests.workforces.acts import by_link, enter, lapse, rounds, send
from tests.workforces.link.panel import come, link, unsigned
from workforces.models import Ticket


def gold_shown(campaign):
    return Assignment.objects.filter(campaign=campaign, item__batch__purpose="gold")


def skip(campaign, person, reason="unclear"):
    held = factories.claim(campaign, person)
    assignment_skip(assignment_id=held.pk, surrogate_id=person.surrogate_id, reason=reason, note="", now=timezone.now())


def place_of(campaign, person):
    return Participation.objects.get(campaign=campaign, surrogate=person.surrogate_id)


@pytest.mark.django_db
def test_who_skips_what_comes_first_after_each_answer_is_checked_and_paused():
    policy = Policy(gold_rate=0.2, gold_first=5, gold_first_items=10, inspection_rate=0)
    campaign = factories.antique(items=120, n=1, gold=30, policy=policy)
    person = factories.annotator(campaign)
    for _ in range(40):
        skip(campaign, person)
        if place_of(campaign, person).standing == Standing.PAUSED:
            break
        factories.vote(campaign, person, 1)
        factories.examine(campaign)
        if place_of(campaign, person).standing == Standing.PAUSED:
            break
    assert place_of(campaign, person).standing == Standing.PAUSED
    assert GoldCheck.objects.filter(is_hit=False).count() >= 3 or Review.objects.get().evidence["passed"] >= 5


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
    for _ in range(120):
        skip(campaign, person)
        if place_of(campaign, person).standing == Standing.PAUSED:
            break
    review = Review.objects.get(campaign=campaign)
    assert review.state == "open"
    assert review.evidence["checks"] == 0
    assert 5 <= review.evidence["passed"] <= gold_shown(campaign).count() <= 10  # of 24 keys
    manager = factories.user()
    review_decide(
        review=review, suspend=False, reason="", refuse_pay=False, actor_id=manager.surrogate_id, now=timezone.now()
    )
    for _ in range(12):  # reinstated: what was looked at is not held against them again
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    assert place_of(campaign, person).standing == Standing.ACTIVE


@pytest.mark.django_db
def test_what_is_skipped_as_offensive_is_held_against_nobody_and_replaced_a_few_times():
    policy = Policy(gold_rate=0, gold_first=6, gold_first_items=12)
    campaign = factories.antique(items=300, n=1, gold=40, policy=policy)
    person = factories.annotator(campaign)
    for _ in range(250):
        skip(campaign, person, "offensive")
    assert place_of(campaign, person).standing == Standing.ACTIVE
    assert gold_shown(campaign).count() == 6 + MOST_UPSETTING


@pytest.mark.django_db
def test_who_skips_the_first_checks_as_offensive_meets_others_soon_after():
    campaign = factories.antique(items=150, n=1, gold=40, policy=Policy(inspection_rate=0))
    person = factories.annotator(campaign)
    for _ in range(25):
        skip(campaign, person, "offensive")
    answered = 0
    while place_of(campaign, person).standing in (Standing.ACTIVE, Standing.WARNED):
        factories.vote(campaign, person, 1)
        factories.examine(campaign)
        answered += 1
    assert answered <= 40  # by chance of the schedule alone it took 100
    [row] = people_of(campaign)
    assert (row["skipped"], row["offensive"]) == (25, 25)


@pytest.mark.django_db
def test_checks_that_were_answered_count_before_anybody_has_looked_at_them():
    policy = Policy(gold_rate=0, gold_first=12, gold_first_items=12, inspection_rate=0)
    campaign = factories.antique(items=60, n=1, gold=40, policy=policy)
    person = factories.annotator(campaign)
    answered = skipped = 0
    for _ in range(24):  # of the checks as many answered as skipped, in one burst
        held = factories.claim(campaign, person)
        if held.item.batch.purpose == "gold" and skipped < answered:
            skip(campaign, person)
            skipped += 1
        else:
            answered += held.item.batch.purpose == "gold"
            factories.submit(factories.label(held, 4))
    assert skipped >= 5
    assert place_of(campaign, person).standing == Standing.ACTIVE


@pytest.mark.django_db
def test_who_undoes_and_skips_what_they_answered_is_checked_by_their_first_answers():
    campaign = factories.antique(items=150, n=1, gold=24, policy=Policy(inspection_rate=0))
    person = factories.annotator(campaign)
    for _ in range(120):
        factories.vote(campaign, person, 1)
        factories.examine(campaign)
        if place_of(campaign, person).standing == Standing.PAUSED:
            break
        submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
        skip(campaign, person)
    assert "score" in Review.objects.get().evidence
    assert gold_shown(campaign).values("item").distinct().count() <= 10


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
    assert all(later - earlier > 1 for earlier, later in zip(gold, gold[2:], strict=False))  # never three in a row


@pytest.mark.django_db
def test_a_key_whose_item_was_retired_takes_no_check():
    policy = Policy(gold_rate=0, gold_first=4, gold_first_items=8)
    campaign = factories.antique(items=40, n=1, gold=10, policy=policy)
    manager = factories.user()
    for key in GoldKey.objects.order_by("pk")[:5]:
        item_retire(item=key.item, reason="unclear", actor_id=manager.surrogate_id, now=timezone.now())
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    planned = Injection.objects.filter(slot__state="aside").order_by("-position")[0]
    item_retire(item=planned.slot.item, reason="unclear", actor_id=manager.surrogate_id, now=timezone.now())
    for _ in range(30):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    assert GoldCheck.objects.count() >= 4


@pytest.mark.django_db
def test_exposures_come_at_the_places_that_were_drawn_whoever_skips():
    """Places count the items that are assigned: the same for who answers all and who skips every other."""
    policy = Policy(gold_rate=0, gold_first=4, gold_first_items=16, inspection_rate=0)
    campaign = factories.antique(items=60, n=2, gold=30, policy=policy)
    person = factories.annotator(campaign)
    for number in range(16):
        is_gold = factories.claim(campaign, person).item.batch.purpose == "gold"
        if number % 2 and not is_gold:
            skip(campaign, person)
        else:
            factories.vote(campaign, person, 4)
    served = Assignment.objects.filter(surrogate=person.surrogate_id).order_by("claimed_at")
    slots = list(served.values_list("slot", flat=True))
    drawn = Injection.objects.filter(is_replaced=False, slot__in=slots)
    assert [slots.index(row.slot_id) for row in drawn.order_by("position")] == sorted(row.position for row in drawn)
    assert gold_shown(campaign).count() == 4


@pytest.mark.slow
@pytest.mark.django_db
def test_invented_visits_leave_the_gold_of_those_who_are_known():
    policy = Policy(gold_rate=0, gold_first=5, gold_first_items=8, gold_most_exposures=4)
    campaign = factories.antique(items=100, n=1, gold=10, policy=policy)
    row = link(campaign, items_per_ticket=25)
    for number in range(60):
        come(unsigned(row, f"x{number}", f"y{number}"))
    assert 2 * GoldKey.objects.aggregate(shown=Sum("exposures"))["shown"] <= 10 * 4
    come(by_link(row, "known", "s1"), Client())
    mine = Participation.objects.order_by("-pk")[0]
    assert Injection.objects.filter(surrogate=mine.surrogate_id).count() == 5


@pytest.mark.django_db(transaction=True)
def test_gold_of_a_hit_that_was_returned_comes_again(desk):
    policy = Policy(gold_rate=0, gold_first=4, gold_first_items=8, inspection_rate=0)
    made = desk(items=60, n=1, gold=12, policy=policy, terms={"items_per_ticket": 16, "places": 1})
    rounds(made)
    worker = made.worker("w")
    taken = worker.take()
    page = enter(taken.frame)
    for _ in range(16):
        page = send(page.form_to("/answer/"), label="1")
    worker._give_back(taken)
    lapse(made, Ticket.objects.get())
    factories.examine(made.campaign)
    assert (gold_shown(made.campaign).count(), GoldCheck.objects.count()) == (4, 0)
    page = enter(worker.take().frame)
    while form := page.form_to("/answer/"):
        page = send(form, label="1")
    assert gold_shown(made.campaign).count() > 4
    assert Annotation.objects.filter(state="provisional", item__batch__purpose="gold").exists()
