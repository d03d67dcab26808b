"""The ANTIQUE process on real rows: votes, second round, expert, exclusion, gold, standing, inspection."""

import random

import pytest
from django.utils import timezone

from accounts.models import AuditEvent
from annotation.models import Annotation, Campaign, Injection, Item, Participation, Slot, Standing
from annotation.slots.services.claims import slot_claim_next
from annotation.slots.services.exclusions import annotation_exclude
from quality.experts.selectors import case_next
from quality.experts.services.cases import CaseError
from quality.experts.services.opinions import opinion_give
from quality.labels.selectors.recomputed import label_recomputed
from quality.labels.selectors.verdicts import standings_of
from quality.models import Case, GoldCheck, GoldKey, Inspection, Review, Verdict
from quality.people.services.reviews import ReviewError, review_decide
from quality.policies.policy import Policy, SecondRound
from quality.policies.selectors import policy_current
from tests import factories

pytestmark = pytest.mark.django_db


def vote_all(campaign, labels):
    people = [factories.annotator(campaign) for _ in labels]
    for person, label in zip(people, labels, strict=True):
        factories.vote(campaign, person, label)
    factories.examine(campaign)
    return people


def verdict():
    return Verdict.objects.get(superseded_at=None)


def test_two_of_three_decide():
    campaign = factories.antique(items=1)
    vote_all(campaign, [4, 2, 4])
    assert (verdict().label, verdict().rule, verdict().annotations.count()) == (4, "majority", 3)
    assert verdict().policy.version == 1


def test_no_majority_opens_a_second_round_for_other_people_and_it_counts_alone():
    campaign = factories.antique(items=1)
    first = vote_all(campaign, [4, 3, 2])
    assert not Verdict.objects.exists()
    assert Slot.objects.filter(round=2, state="open").count() == 3
    with pytest.raises(AssertionError):
        factories.claim(campaign, first[0])
    vote_all(campaign, [2, 2, 1])
    assert (verdict().label, verdict().rule) == (2, "second")
    assert label_recomputed(verdict()) == 2


def test_pooled_counts_both_rounds():
    campaign = factories.antique(items=1, policy=Policy(second_round=SecondRound.POOLED))
    vote_all(campaign, [4, 3, 2])
    vote_all(campaign, [4, 3, 4])
    assert (verdict().label, verdict().rule) == (4, "pooled")


def test_an_expert_decides_what_two_rounds_could_not_and_never_an_own_item():
    campaign = factories.antique(items=1)
    people = vote_all(campaign, [4, 3, 2]) + vote_all(campaign, [1, 2, 3])
    case = Case.objects.get(state="open")
    assert (
        Inspection.objects.filter(because="no_agreement").count() + Inspection.objects.filter(because="sample").count()
        == 6
    )
    assert case_next(campaign=campaign, surrogate_id=people[0].surrogate_id) is None
    with pytest.raises(CaseError):
        opinion_give(
            case=case, surrogate_id=people[0].surrogate_id, said={"label": 2}, justification="", now=timezone.now()
        )
    expert = factories.user()
    opinion_give(
        case=case,
        surrogate_id=expert.surrogate_id,
        said={"label": 2},
        justification="It is about it.",
        now=timezone.now(),
    )
    assert (verdict().label, verdict().rule, verdict().opinion.surrogate_id) == (2, "expert", expert.surrogate_id)
    again = opinion_give(
        case=case, surrogate_id=expert.surrogate_id, said={"label": 4}, justification="", now=timezone.now()
    )
    assert again.label == 2


def test_excluding_work_supersedes_the_verdict_reopens_the_slot_and_recalls_the_case():
    campaign = factories.antique(items=1)
    vote_all(campaign, [4, 4, 2])
    excluded = Annotation.objects.filter(answer__label=4).first()
    annotation_exclude(annotation=excluded, because="quality", actor_id=None, now=timezone.now())
    factories.examine(campaign)
    assert not Verdict.objects.filter(superseded_at=None).exists()
    slot = Slot.objects.get(state="open")
    assert (slot.round, slot.index) == (1, excluded.slot.index)
    vote_all(campaign, [2])
    assert (verdict().label, verdict().rule) == (2, "majority")
    assert Verdict.objects.exclude(superseded_at=None).count() == 1
    assert AuditEvent.objects.filter(action="verdict_supersede").count() == 1

    second = factories.antique(items=1)
    vote_all(second, [4, 3, 2])
    vote_all(second, [1, 2, 3])
    assert Case.objects.get(campaign=second).state == "open"
    annotation_exclude(
        annotation=Annotation.objects.filter(campaign=second, slot__round=1).first(),
        because="quality",
        actor_id=None,
        now=timezone.now(),
    )
    factories.examine(second)
    assert Case.objects.get(campaign=second).state == "recalled"


@pytest.mark.slow
@pytest.mark.parametrize("rule", list(SecondRound))
def test_every_verdict_recomputes_from_what_it_names(rule):
    """Random votes, exclusions and opinions: what stands is always what the stored rows come to."""
    chance = random.Random(11)
    campaign = factories.antique(items=12, policy=Policy(second_round=rule))
    expert = factories.user()
    for _ in range(14):
        person = factories.annotator(campaign)
        for _ in range(chance.randint(2, 12)):
            try:
                factories.vote(campaign, person, chance.choice([1, 2, 3, 4]))
            except AssertionError:
                break
        factories.examine(campaign)
        if chance.random() < 0.5:
            counted = list(Annotation.objects.filter(campaign=campaign, state="counted").order_by("pk"))
            annotation_exclude(annotation=chance.choice(counted), because="quality", actor_id=None, now=timezone.now())
        case = case_next(campaign=campaign, surrogate_id=expert.surrogate_id)
        if case is not None and chance.random() < 0.7:
            opinion_give(
                case=case,
                surrogate_id=expert.surrogate_id,
                said={"label": chance.choice([1, 2, 3, 4])},
                justification="",
                now=timezone.now(),
            )
        factories.examine(campaign)
        for row in Verdict.objects.select_related("item__campaign", "policy", "opinion"):
            assert label_recomputed(row) == row.label
        _, policy = policy_current(campaign)
        for item_id, stands in standings_of(Item.objects.filter(campaign=campaign), policy).items():
            found, current = stands.found, Verdict.objects.filter(item=item_id, superseded_at=None).first()
            assert (current.label, current.rule) == (found.label, found.rule) if current else found.label is None
    assert Verdict.objects.filter(campaign=campaign).values("rule").distinct().count() >= 2


def test_gold_is_front_loaded_looks_like_any_slot_and_is_checked():
    policy = Policy(gold_first=3, gold_first_items=6, gold_rate=0.1)
    campaign = factories.antique(items=20, n=3, gold=8, policy=policy)
    person = factories.annotator(campaign)
    for _ in range(16):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    checks = GoldCheck.objects.filter(campaign=campaign)
    first_six = Annotation.objects.filter(surrogate_id=person.surrogate_id).order_by("pk")[:6]
    assert sum((row.item.batch.purpose == "gold") for row in first_six) == 3
    assert checks.count() == 4
    assert all(check.is_hit for check in checks)
    assert not Verdict.objects.filter(item__batch__purpose="gold").exists()
    assert Injection.objects.filter(campaign=campaign).count() >= 4


def test_a_gold_key_is_shown_no_more_often_than_the_policy_allows():
    policy = Policy(gold_rate=0, gold_first=1, gold_first_items=1, gold_most_exposures=2)
    campaign = factories.antique(items=4, n=4, gold=1, policy=policy)
    shown = [factories.vote(campaign, factories.annotator(campaign), 4).item.batch.purpose for _annotator in range(4)]
    assert shown == ["gold", "gold", "work", "work"]
    assert GoldKey.objects.get().exposures == 2


def test_three_misses_pause_and_a_manager_suspends_what_is_excluded_reopens():
    policy = Policy(gold_rate=0, gold_first=3, gold_first_items=3)
    campaign = factories.antique(items=6, gold=8, policy=policy)
    careless, manager = factories.annotator(campaign), factories.user()
    for _ in range(3):
        factories.vote(campaign, careless, 1)
    work = factories.vote(campaign, careless, 1)  # before the checks were looked at
    factories.examine(campaign)
    review = Review.objects.get(campaign=campaign)
    place = Participation.objects.get(campaign=campaign, surrogate=careless.surrogate)
    assert (review.state, place.standing) == ("open", Standing.PAUSED)
    with pytest.raises(AssertionError, match="suspended"):
        factories.claim(campaign, careless)
    with pytest.raises(ReviewError):
        review_decide(
            review=review, suspend=True, reason=" ", refuse_pay=False, actor_id=manager.surrogate_id, now=timezone.now()
        )
    review_decide(
        review=review,
        suspend=True,
        reason="Three of three checks missed.",
        refuse_pay=False,
        actor_id=manager.surrogate_id,
        now=timezone.now(),
    )
    factories.run_jobs()
    work.refresh_from_db()
    assert work.state == "excluded"
    assert Slot.objects.get(pk=work.slot_id).state == "open"


def test_a_reinstated_person_begins_afresh():
    policy = Policy(gold_rate=0, gold_first=3, gold_first_items=3)
    campaign = factories.antique(items=6, gold=8, policy=policy)
    person, manager = factories.annotator(campaign), factories.user()
    for _ in range(3):
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    review_decide(
        review=Review.objects.get(),
        suspend=False,
        reason="",
        refuse_pay=False,
        actor_id=manager.surrogate_id,
        now=timezone.now(),
    )
    factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert Participation.objects.get(surrogate=person.surrogate).standing == Standing.ACTIVE


def test_a_batch_is_launched_when_its_time_has_come(client):
    from datetime import timedelta

    from accounts.models import Role
    from annotation.models import Batch
    from annotation.slots.services.slots import batches_open

    campaign = factories.antique(items=1)
    factories.import_rows(campaign, factories.pairs(2, prefix="7"))
    batch = Batch.objects.filter(campaign=campaign, state="draft", items__isnull=False).distinct().get()
    boss = factories.user()
    factories.join(campaign, boss, Role.MANAGER)
    client.force_login(boss)
    url = f"/campaigns/{campaign.slug}/schedule/"
    client.post(url, {"batch": batch.ordinal, "at": "nonsense"})
    batch.refresh_from_db()
    assert batch.opens_at is None
    client.post(url, {"batch": batch.ordinal, "at": "2030-01-01T09:30"})
    batch.refresh_from_db()
    assert batch.opens_at.isoformat() == "2030-01-01T09:30:00+00:00"
    batches_open(timezone.now())
    factories.run_jobs()
    assert Slot.objects.filter(item__batch=batch).count() == 0
    Batch.objects.filter(pk=batch.pk).update(opens_at=timezone.now() - timedelta(seconds=1))
    batches_open(timezone.now())
    factories.run_jobs()
    assert Slot.objects.filter(item__batch=batch, state="open").count() == 6


def test_the_last_answer_can_be_taken_back_and_given_again(client):
    from datetime import timedelta

    from annotation.work.services.undo import NothingToUndo, submission_undo

    campaign = factories.antique(items=3, n=1)
    person = factories.annotator(campaign)
    first = factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert verdict().label == 1
    factories.claim(campaign, person)  # the next is in hand already
    client.force_login(person)
    client.post(f"/work/{campaign.slug}/undo/")
    first.refresh_from_db()
    assert (first.state, first.answer["label"]) == ("undone", 1)
    again = factories.claim(campaign, person)
    assert (again.item_id, again.slot_id) == (first.item_id, first.slot_id)
    assert Slot.objects.filter(state="open").count() == 2
    factories.submit(factories.label(again, 4))
    factories.examine(campaign)
    assert verdict().label == 4
    assert Participation.objects.get(surrogate=person.surrogate).submitted == 1
    with pytest.raises(NothingToUndo):
        submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now() + timedelta(minutes=16))
    assert Annotation.objects.filter(state="counted").count() == 1


def test_whoever_looked_for_work_before_a_second_round_opened_is_brought_back_to_it():
    campaign = factories.antique(items=1, n=3)
    late = factories.annotator(campaign)
    held = [factories.claim(campaign, factories.annotator(campaign)) for _ in range(3)]
    now = timezone.now()
    # All places are taken: this person's place in the queue is behind them.
    assert slot_claim_next(campaign=campaign, surrogate_id=late.surrogate_id, now=now).assignment is None
    before = Campaign.objects.get(pk=campaign.pk).queue_version
    for chosen, assignment in zip((1, 2, 3), held, strict=True):
        factories.submit(factories.label(assignment, chosen))
    factories.examine(campaign)
    assert Campaign.objects.get(pk=campaign.pk).queue_version == before + 1
    assert factories.claim(campaign, late).slot.round == 2
