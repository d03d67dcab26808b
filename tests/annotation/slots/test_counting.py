"""What counts: after any sequence of what people and rules do, the rows agree with each other."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accounts.selectors import consent_text_current
from accounts.services import consent_give
from annotation.items.services.items import item_retire
from annotation.models import (
    FILLING,
    TALLIED,
    Annotation,
    Assignment,
    CountedChange,
    Item,
    Participation,
    Slot,
    Split,
    Standing,
    StandingChange,
)
from annotation.people.services.joining import participation_join
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import participation_withdraw
from annotation.slots.services.claims import slot_claim_next
from annotation.slots.services.counting import submissions_confirm, submissions_give_up
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore
from annotation.slots.services.slots import items_extend
from annotation.slots.services.sweeps import assignments_expire
from annotation.work.services.submissions import answer_take, assignment_skip
from annotation.work.services.undo import NothingToUndo, OpenedAgain, submission_undo
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import PolicyVersion
from quality.policies.policy import Policy, policy_from
from tests import factories

pytestmark = pytest.mark.django_db


class World:
    """Two pairs and one gold key, three people, and everything that can happen to what they do."""

    def __init__(self):
        policy = Policy(gold_first=1, gold_first_items=2, gold_rate=0.5)
        self.campaign = factories.antique(items=2, n=2, gold=1, policy=policy, quota=20)
        self.people = [factories.annotator(self.campaign) for _ in range(3)]
        self.now = timezone.now()

    def live(self, person):
        return Assignment.objects.filter(campaign=self.campaign, surrogate=person.surrogate_id, state="live").first()

    def nth(self, number):
        rows = list(Annotation.objects.filter(campaign=self.campaign).order_by("pk"))
        return rows[number % len(rows)] if rows else None

    def claim(self, person, number):
        slot_claim_next(campaign=self.campaign, surrogate_id=person.surrogate_id, now=self.now)

    def submit(self, person, number, *, provisional=False):
        open_ = Assignment.objects.filter(surrogate=person.surrogate_id, state__in=["live", "expired"]).first()
        if open_ is not None:
            answer_take(
                assignment_id=open_.pk,
                surrogate_id=person.surrogate_id,
                stage="relevance",
                sent={"label": str(number % 4 + 1)},
                version=open_.draft_version,
                now=self.now,
                via="mturk" if provisional else "internal",
                is_provisional=provisional,
                another=number % 2 == 0,
            )

    def submit_provisional(self, person, number):
        self.submit(person, number, provisional=True)

    def undo(self, person, number):
        with suppress(NothingToUndo, OpenedAgain):
            submission_undo(campaign=self.campaign, surrogate_id=person.surrogate_id, now=self.now)

    def skip(self, person, number):
        live = self.live(person)
        if live is not None:
            assignment_skip(
                assignment_id=live.pk, surrogate_id=person.surrogate_id, reason="unclear", note="", now=self.now
            )

    def expire(self, person, number):
        Assignment.objects.filter(surrogate=person.surrogate_id, state="live").update(
            deadline_at=self.now - timedelta(seconds=1)
        )
        assignments_expire(self.now)

    def exclude(self, person, number):
        if (row := self.nth(number)) is not None:
            annotation_exclude(annotation=row, because="test", actor_id=None, now=self.now)

    def restore(self, person, number):
        if (row := self.nth(number)) is not None:
            annotation_restore(annotation=row, actor_id=None, now=self.now)

    def confirm(self, person, number):
        with transaction.atomic():
            submissions_confirm(annotations=[row for row in [self.nth(number)] if row], now=self.now)

    def give_up(self, person, number):
        with transaction.atomic():
            submissions_give_up(annotations=[row for row in [self.nth(number)] if row], because="test", now=self.now)

    def retire(self, person, number):
        if number % 5 == 0:
            item = Item.objects.filter(campaign=self.campaign, batch__purpose="work").order_by("pk")[number % 2]
            item_retire(item=item, reason="test", actor_id=person.surrogate_id, now=self.now)

    def extend(self, person, number):
        split = Split.objects.get(campaign=self.campaign, name="train")
        items_extend(campaign=self.campaign, split=split, n=3, sample=1, seed=number, actor_id=None, now=self.now)

    def judge(self, person, number):
        version = PolicyVersion.objects.filter(campaign=self.campaign).latest("version")
        item = Item.objects.filter(campaign=self.campaign, batch__purpose="work").order_by("pk")[number % 2]
        with transaction.atomic():
            items_judge(items=items_lock([item.pk]), version=version, policy=policy_from(version.data), now=self.now)

    def suspend(self, person, number):
        with transaction.atomic():
            standing_move(
                campaign=self.campaign,
                surrogate_id=person.surrogate_id,
                actor_id=None,
                now=self.now,
                to=Standing.SUSPENDED if number % 2 else Standing.ACTIVE,
            )

    def withdraw(self, person, number):
        if number % 3 == 0:
            participation_withdraw(campaign=self.campaign, surrogate_id=person.surrogate_id, now=self.now)
            factories.join(self.campaign, person)
            text = consent_text_current(self.campaign.pk)
            consent_give(text_id=text.pk, surrogate_id=person.surrogate_id, now=self.now)

    def join(self, person, number):
        """What this person did turns out to be another's; a new annotator takes their place."""
        other = self.people[number % len(self.people)]
        if other is not person:
            with transaction.atomic():
                participation_join(
                    campaign=self.campaign, before=person.surrogate_id, after=other.surrogate_id, now=self.now
                )
            self.people[self.people.index(person)] = factories.annotator(self.campaign)

    def check(self):
        campaign = self.campaign
        for slot in Slot.objects.filter(campaign=campaign).select_related("item", "injection"):
            filling = Annotation.objects.filter(slot=slot, state__in=FILLING).count()
            holding = Assignment.objects.filter(slot=slot, state__in=["live", "reserved"]).count()
            assert (filling, holding) == {"filled": (1, 0), "held": (0, 1)}.get(slot.state, (0, 0)), slot.state
            if slot.state in ("open", "aside"):
                assert slot.item.state == "active"
                assert slot.is_wanted
            if slot.state in ("open", "aside"):
                assert hasattr(slot, "injection") == (slot.state == "aside")
        for place in Participation.objects.filter(campaign=campaign):
            own = Annotation.objects.filter(campaign=campaign, surrogate=place.surrogate_id)
            assert place.submitted == own.filter(state__in=TALLIED).count()
            changes = list(
                StandingChange.objects.filter(campaign=campaign, surrogate=place.surrogate_id).order_by("pk")
            )
            assert [change.before for change in changes[1:]] == [change.after for change in changes[:-1]]
            assert place.standing == (changes[-1].after if changes else "active")
        for annotation in Annotation.objects.filter(campaign=campaign):
            changes = list(CountedChange.objects.filter(annotation=annotation).order_by("pk"))
            assert [change.before for change in changes[1:]] == [change.after for change in changes[:-1]]
            assert annotation.state == (changes[-1].after if changes else annotation.state)
            other = Annotation.objects.filter(
                item=annotation.item_id, surrogate=annotation.surrogate_id, state__in=FILLING
            )
            live = Assignment.objects.filter(
                item=annotation.item_id, surrogate=annotation.surrogate_id, state__in=["live", "reserved"]
            )
            assert other.count() + live.count() <= 1


STEPS = [
    "claim",
    "claim",
    "submit",
    "submit",
    "submit_provisional",
    "undo",
    "skip",
    "expire",
    "exclude",
    "restore",
    "confirm",
    "give_up",
    "retire",
    "extend",
    "judge",
    "suspend",
    "withdraw",
    "join",
]


anything = given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2), st.integers(0, 9)), min_size=5, max_size=40)
)
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(max_examples=15, **UNHURRIED)
@example([("claim", 0, 0), ("claim", 0, 0), ("submit", 0, 0), ("undo", 0, 0), ("undo", 0, 0)])  # the second is refused
@anything
def test_whatever_happens_the_rows_agree(steps):
    happen(steps)


@pytest.mark.slow
@settings(max_examples=150, **UNHURRIED)
@anything
def test_whatever_happens_more_often_the_rows_agree(steps):
    happen(steps)


def happen(steps):
    """Take steps one after another, with a look at the rows after each."""
    with transaction.atomic():
        world = World()
        for name, person, number in steps:
            world.now += timedelta(seconds=1)
            getattr(world, name)(world.people[person], number)
            world.check()
        transaction.set_rollback(True)


def test_extending_an_item_keeps_its_verdict(now):
    campaign = factories.antique(items=1, n=3)
    people = [factories.annotator(campaign) for _ in range(5)]
    for person, label in zip(people, (4, 4, 4), strict=False):
        factories.vote(campaign, person, label)
    factories.examine(campaign)
    item = Item.objects.get(campaign=campaign)
    [verdict] = item.verdicts.all()
    items_extend(campaign=campaign, split=item.split, n=5, sample=1, seed=1, actor_id=None, now=now)
    for person in people[3:]:
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    [kept] = item.verdicts.filter(superseded_at=None)
    assert (kept.pk, kept.label, kept.annotations.count()) == (verdict.pk, 4, 3)
    assert Annotation.objects.filter(item=item, state="counted").count() == 5


def test_only_counting_writes_states_of_annotations_and_slots():
    """Look for writes elsewhere: an update of a slot's or an annotation's state, or of a person's tally."""
    import re

    from tests.conftest import ROOT

    write = re.compile(
        r"(?:Slot|Annotation|slots?|annotations?)\b[^\n]*\.update\([^)]*\bstate=|update\([^)]*\bsubmitted="
        r"|\bUpdate\([^}]*(?:\b(?:Slot|Annotation)\.objects[^}]*\"state\"|\"submitted\")"
    )
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for app in ("annotation", "workforces", "quality", "exports", "console", "replays")
        for path in (ROOT / app).rglob("*.py")
        if path.name != "counting.py" and "migrations" not in path.parts
        for match in write.finditer(path.read_text())
    ]
    assert found == []
