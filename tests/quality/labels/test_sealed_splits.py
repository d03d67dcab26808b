"""What is done after a split was sealed shows nothing of it and changes nothing of it; what is not done yet is not sealed."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import NewSplit
from annotation.items.services.items import item_retire
from annotation.models import Annotation, AnnotationState, ItemState, SlotState
from annotation.people.services.withdrawal import withdrawal_ask, withdrawals_apply
from annotation.slots.services.exclusions import annotation_exclude
from annotation.slots.services.slots import items_extend
from annotation.work.services.undo import NothingToUndo, submission_undo
from console.selectors import reviewed_elsewhere
from jobs.terminal import run_here
from quality.dashboard.selectors.review_queue import waiting_of
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.selectors import case_next
from quality.experts.services.cases import CaseError, case_ask
from quality.experts.services.inspections import inspection_next
from quality.labels.services.sealing import SealError, split_seal
from quality.models import Case, Inspection, QualitySnapshot
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db
READ_ALL = Policy(gold_rate=0, gold_first=0, inspection_rate=1.0)


def answered(*, examined=True, votes=2, policy=None):
    """Return a campaign whose items all have their votes, with who gave them."""
    made = factories.antique(items=12, n=votes, splits=[NewSplit("test", votes)], policy=policy)
    people = [factories.annotator(made) for _ in range(votes)]
    for person in people:
        for _ in range(12):
            held = factories.claim(made, person)
            factories.submit(factories.label(held, 1 + held.item_id % 4))
    if examined:
        factories.examine(made)
        Inspection.objects.filter(campaign=made).update(verdict="right")
    return made, people


@pytest.fixture
def sealed():
    made, people = answered()
    split_seal(split=made.splits.get(), actor_id=None, now=timezone.now())
    return made, people


def test_what_nobody_examined_yet_is_not_sealed():
    made, _people = answered(examined=False, votes=1, policy=READ_ALL)
    with pytest.raises(SealError, match="checked or confirmed"):
        split_seal(split=made.splits.get(), actor_id=None, now=timezone.now())
    factories.examine(made)
    with pytest.raises(SealError, match="spot check"):
        split_seal(split=made.splits.get(), actor_id=None, now=timezone.now())


def test_items_without_a_label_are_not_sealed():
    made, _people = answered()
    made.verdicts.filter(item=made.items.first()).update(superseded_at=timezone.now())
    with pytest.raises(SealError, match="no label"):
        split_seal(split=made.splits.get(), actor_id=None, now=timezone.now())


def test_nobody_takes_sealed_answers_out_of_what_counts_or_back(sealed):
    made, [person, _other] = sealed
    now, before = timezone.now(), sorted(made.annotations.values_list("pk", "state"))
    run_here(
        kind="quality.person_work",
        stderr=factories.Quiet(),
        scope_id=made.pk,
        payload={
            "campaign": str(made.pk),
            "surrogate": str(person.surrogate_id),
            "since": (now - timedelta(days=1)).isoformat(),
            "excludes": True,
        },
    )
    first = made.annotations.order_by("pk")[0]
    assert not annotation_exclude(annotation=first, because="inspection", actor_id=None, now=now)
    with pytest.raises(NothingToUndo):
        submission_undo(campaign=made, surrogate_id=person.surrogate_id, now=now)
    assert not item_retire(item=first.item, reason="broken", actor_id=person.surrogate_id, now=now)
    with pytest.raises(ValueError, match="sealed"):
        items_extend(campaign=made, split=made.splits.get(), n=5, sample=12, seed=0, actor_id=None, now=now)
    assert sorted(made.annotations.values_list("pk", "state")) == before
    assert not made.items.filter(state=ItemState.RETIRED).exists()
    assert not made.slots.exclude(state=SlotState.FILLED).exists()


def test_what_waits_in_a_sealed_split_is_shown_to_nobody(sealed):
    """A person who leaves opens their places again: what comes of it waits until the split is unsealed."""
    made, _people = sealed
    first = made.annotations.order_by("pk")[0]
    Case.objects.create(
        campaign=made, item=first.item, because="no_agreement", experts=1, parts=[], opened_at=timezone.now()
    )
    Inspection.objects.update_or_create(annotation=first, defaults={"campaign": made, "verdict": ""})
    expert = factories.user()
    factories.join(made, expert, Role.EXPERT)

    def waits():
        elsewhere = {row.url for row in reviewed_elsewhere(made, timezone.now()).rows}
        return (
            inspection_next(campaign=made) is not None,
            case_next(campaign=made, surrogate_id=expert.surrogate_id) is not None,
            "quality-inspect" in elsewhere,
            "quality-experts" in elsewhere,
            bool(waiting_of(made)),
        )

    assert waits() == (False,) * 5
    made.splits.update(sealed_at=None)
    assert waits() == (True,) * 5


def test_the_list_of_ones_own_answers_leaves_sealed_ones_out(sealed):
    made, [person, _other] = sealed
    client = Client()
    client.force_login(person)
    page = f"/work/{made.slug}/recent/"
    assert "thing number" not in client.get(page).content.decode()
    made.splits.update(sealed_at=None)
    assert "thing number" in client.get(page).content.decode()


def test_experts_are_not_asked_about_sealed_items(sealed):
    made, _people = sealed
    with pytest.raises(CaseError, match="sealed"):
        case_ask(
            item=made.items.first(),
            because="manager",
            experts=1,
            actor_id=factories.user().surrogate_id,
            now=timezone.now(),
        )


def test_who_withdraws_is_unlinked_in_a_sealed_split_too(sealed):
    made, [person, _other] = sealed
    now = timezone.now()
    withdrawal_ask(campaign=made, surrogate_id=person.surrogate_id, now=now)
    withdrawals_apply(now + timedelta(days=8))
    assert Annotation.objects.filter(campaign=made, state=AnnotationState.WITHDRAWN).count() == 12


def test_numbers_that_were_begun_before_the_seal_are_not_kept(monkeypatch):
    made, _people = answered()
    split = made.splits.get()

    def sealed_meanwhile(campaign):
        split_seal(split=split, actor_id=None, now=timezone.now())
        return []

    monkeypatch.setattr("quality.dashboard.services.audits_of", sealed_meanwhile)
    quality_numbers_refresh(campaign=made, now=timezone.now())
    assert not QualitySnapshot.objects.filter(campaign=made).exists()
    monkeypatch.undo()
    quality_numbers_refresh(campaign=made, now=timezone.now())
    labels = QualitySnapshot.objects.get(campaign=made).data["summary"]["labels"]
    assert [labels[label] for label in "321"] == [0, 0, 0]  # all that is told are the askers' own choices
