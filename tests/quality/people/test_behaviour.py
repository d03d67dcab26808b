"""How people work: planted people are found, honest ones are not, and nothing is known of who was not told."""

import re
from datetime import timedelta

import numpy as np
import orjson
import pytest
from django.urls import reverse
from django.utils import timezone
from isal import igzip

from accounts.models import Consent, Role
from annotation.models import Annotation, EventChunk, EventTally, Participation, Slot
from annotation.people.services.withdrawal import participation_withdraw
from annotation.work.services.events import Piece, events_store, events_trim
from measures.behaviour import known_by_gold, pace, pointed_at, sameness, twins, untrusted
from measures.judgments import Repeats, judgments_of
from quality.models import BehaviourSnapshot, GoldCheck, GoldKey
from tests import factories

PEOPLE, ITEMS = 80, 1200


def crowd(seed):
    """Return (item, person, label, seconds, length) of honest people who differ in skill, leaning and speed."""
    chance = np.random.default_rng(seed)
    skill, speed = chance.uniform(0.6, 0.95, PEOPLE), chance.normal(0, 0.3, PEOPLE)
    leaning = chance.dirichlet([4] * 4, PEOPLE)
    length, hard = chance.integers(50, 2000, ITEMS), chance.normal(0, 0.3, ITEMS)
    rows = []
    for item in range(ITEMS):
        truth = int(chance.integers(4))
        for person in chance.choice(PEOPLE, 4, replace=False):
            label = truth if chance.random() < skill[person] else int(chance.choice(4, p=leaning[person]))
            seconds = np.exp(1 + 0.4 * np.log1p(length[item]) + hard[item] + speed[person] + chance.normal(0, 0.6))
            rows.append((item, int(person), label, float(seconds), int(length[item])))
    return rows


def signals(rows):
    """Return whom each signal points at."""
    item, person, _label, seconds, length = (np.array(column) for column in zip(*rows, strict=True))
    found = {
        "pace": pace(item, person, seconds, length),
        "sameness": sameness(row[:3] for row in rows),
        "twins": twins(judgments_of((row[:3] for row in rows), repeats=Repeats.LAST)),
    }
    return {key: {one for one, signal in some.items() if signal.is_striking} for key, some in found.items()}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_honest_people_are_left_alone(seed):
    assert sum(len(found) for found in signals(crowd(seed)).values()) <= 1  # of 240


def test_who_clicks_through_is_fast_beside_others_on_the_same_items():
    rows = [(i, p, label, 1.5 if p == 7 else s, n) for i, p, label, s, n in crowd(4)]
    assert signals(rows)["pace"] == {7}


def test_long_items_do_not_make_who_got_short_ones_fast():
    rows = [row for row in crowd(5) if row[1] != 3 or row[4] < 300]
    assert 3 not in signals(rows)["pace"]


def test_who_always_says_the_same_and_who_says_it_in_long_runs_are_found():
    rows = [(i, p, 2 if p == 5 else label, s, n) for i, p, label, s, n in crowd(6)]
    own = [place for place, row in enumerate(rows) if row[1] == 9]
    for turn, place in enumerate(own):  # 15 of each, one label after the other
        rows[place] = (rows[place][0], 9, turn // 15 % 4, *rows[place][3:])
    assert signals(rows)["sameness"] == {5, 9}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_good_people_give_long_runs_in_a_file_that_is_sorted_by_label(seed):
    """Items in the order of their labels: of 40 people who are 90% right, 39 were pointed at."""
    chance = np.random.default_rng(seed)
    rows = []
    for item in range(800):
        truth = item // 200
        for person in chance.choice(40, 3, replace=False):
            label = truth if chance.random() < 0.9 else int(chance.integers(4))
            rows.append((item, int(person), label))
    pointed = {one for one, signal in sameness(rows).items() if signal.is_striking}
    assert len(pointed) <= 1
    own = [place for place, row in enumerate(rows) if row[1] == 9]
    for turn, place in enumerate(own):  # long runs as well, of labels that others did not give
        rows[place] = (rows[place][0], 9, (turn // 15 + 1) % 4)
    assert 9 in {one for one, signal in sameness(rows).items() if signal.is_striking}


def test_a_short_run_that_is_less_likely_hides_no_long_one():
    chance = np.random.default_rng(3)
    rows = [(n, "self", "AB"[int(chance.integers(2))]) for n in range(300)]
    for n in range(100, 124):
        rows[n] = (n, "self", "A")
    others = []
    for n in range(200, 207):  # seven odd answers to items that many others answered otherwise
        rows[n] = (n, "self", "C")
        others += [(n, f"p{one}", "B") for one in range(30)]
    assert sameness([*others, *rows])["self"].is_striking
    twice = [(n, "self", "A") for n in range(40) for _ in range(2)] + rows[:60]
    assert sameness(twice)["self"].is_striking  # one's own earlier answer is nobody else's


def test_two_accounts_that_answer_alike_are_found_and_two_good_ones_are_not():
    chance, rows = np.random.default_rng(8), crowd(8)
    for item in range(ITEMS, ITEMS + 60):  # hard items that four people judge, two of them one person
        copied = int(chance.integers(4))
        rows += [(item, 100, copied, 9.0, 99), (item, 101, copied, 9.0, 99)]
        rows += [
            (item, int(person), int(chance.integers(4)), 9.0, 99) for person in chance.choice(40, 2, replace=False)
        ]
    assert signals(rows)["twins"] == {100, 101}
    for item in range(ITEMS + 60, ITEMS + 120):  # easy ones: all agree
        rows += [(item, person, 1, 9.0, 99) for person in (50, 51, 52, 53)]
    assert signals(rows)["twins"] <= {100, 101, 50, 51, 52, 53}


def test_input_that_no_device_made_counts_when_it_is_more_than_an_accident():
    found = untrusted({1: (2, 10), 2: (30, 100), 3: (3, 1000), 4: (0, 50)})
    assert {person: signal.is_striking for person, signal in found.items()} == {1: False, 2: True, 3: False}


def test_a_signal_says_how_often_it_points_at_good_people():
    known = known_by_gold([("ann", 20, 19), ("bo", 20, 10), ("cy", 5, 5), ("di", 20, 15), ("ed", 10, 9)])
    assert known == {"ann": True, "bo": False, "ed": True}
    found = pointed_at(untrusted({"ann": (5, 10), "bo": (9, 10), "di": (9, 9)}), known)
    assert (found["good"]["n"], found["good"]["of"], found["bad"]["n"], found["bad"]["of"]) == (1, 2, 1, 1)
    assert 0 < found["good"]["low"] < 0.5 < found["good"]["high"] < 1
    assert pointed_at({}, {})["good"] == {"n": 0, "of": 0, "low": None, "high": None}


def told(campaign, tells):
    """Return a person with an item in hand, whose consent text tells of behavior or does not."""
    campaign.scope.consent_texts.update(tells_behaviour=tells)
    person = factories.annotator(campaign)
    return person, factories.claim(campaign, person)


def send(assignment, person, sequence=0):
    events = [
        [5, "key", None],
        [10, "untrusted"],
        [12, "untrusted"],
        [20, "paste", 240],
        [30, "paste", "x"],
        [9, "odd"],
    ]
    return events_store(
        assignment_id=assignment.pk,
        surrogate_id=person.surrogate_id,
        piece=Piece(sequence, events),
        now=timezone.now(),
    )


@pytest.mark.django_db
def test_only_of_who_was_told_is_anything_kept():
    campaign = factories.antique(items=2, n=2)
    person, assignment = told(campaign, tells=False)
    assert send(assignment, person) == 1
    assert orjson.loads(igzip.decompress(bytes(EventChunk.objects.get().events))) == [[5, "key", None]]
    assert not EventTally.objects.exists()
    person, assignment = told(campaign, tells=True)
    for _ in range(2):  # sent again, it counts once
        assert send(assignment, person) == 4
    tally = EventTally.objects.get()
    assert (tally.untrusted, tally.pastes, tally.pasted) == (2, 1, 240)
    send(assignment, person, sequence=1)
    tally.refresh_from_db()
    assert (tally.untrusted, tally.pastes, tally.pasted) == (4, 2, 480)
    huge = [[1, "paste", 2**53 - 1]] * 2000  # invented: no sum is too large for a column
    for sequence in (3, 4):
        events_store(
            assignment_id=assignment.pk,
            surrogate_id=person.surrogate_id,
            piece=Piece(sequence, huge),
            now=timezone.now(),
        )
    tally.refresh_from_db()
    assert tally.pasted == 480 + 2 * 1_000_000
    Consent.objects.filter(surrogate_id=person.surrogate_id).update(withdrawn_at=timezone.now())
    assert send(assignment, person, sequence=2) == 1


@pytest.mark.django_db
def test_logs_are_deleted_after_their_days_and_tallies_stay(settings):
    settings.CLICK_LOG_DAYS = 30
    campaign = factories.antique(items=2, n=2)
    person, assignment = told(campaign, tells=True)
    send(assignment, person)
    assert events_trim(timezone.now() + timedelta(days=29)) == 0
    assert events_trim(timezone.now() + timedelta(days=31)) == 1
    assert (EventChunk.objects.count(), EventTally.objects.count()) == (0, 1)


@pytest.mark.django_db
def test_the_consent_text_says_so_and_a_new_campaign_does_unless_it_is_unticked(client):
    campaign = factories.antique(items=2, n=2)
    campaign.scope.consent_texts.update(tells_behaviour=True)
    person = factories.user()
    factories.join(campaign, person, Role.ANNOTATOR)
    client.force_login(person)
    page = reverse("consent", args=[campaign.slug])
    assert "deleted after 90 days" in client.get(page).content.decode()
    campaign.scope.consent_texts.update(tells_behaviour=False)
    assert "deleted after" not in client.get(page).content.decode()
    client.force_login(factories.user(is_admin=True))
    form = client.get(reverse("campaign-new")).content.decode()
    for name in ("tells_behaviour", "has_training"):
        assert re.search(rf'<input type="checkbox" name="{name}" [^>]*checked', form)


@pytest.fixture
def watched(db):
    """Return a campaign in which one of twelve people clicks through, and a manager of it."""
    campaign, chance = factories.antique(items=120, n=4, gold=10), np.random.default_rng(1)
    campaign.scope.consent_texts.update(tells_behaviour=True)
    people = [factories.annotator(campaign) for _ in range(12)]
    Participation.objects.bulk_create(
        [Participation(campaign=campaign, surrogate_id=one.surrogate_id, submitted=40) for one in people],
        ignore_conflicts=True,
    )
    rows = []
    for number, slot in enumerate(
        Slot.objects.filter(campaign=campaign, item__batch__purpose="work").order_by("item", "index")
    ):
        place = (number * 5 + number // 12) % 12
        label = 3 if place == 2 else slot.item_id % 4 + 1
        rows.append(
            Annotation(
                campaign=campaign,
                item_id=slot.item_id,
                slot=slot,
                surrogate_id=people[place].surrogate_id,
                state="counted",
                answer={"label": label, "way": ""},
                answer_version=1,
                submitted_at=timezone.now(),
                published_id=str(number),
                seconds=1.0 if place == 2 else float(np.exp(chance.normal(2.5, 0.4))),
            )
        )
    Annotation.objects.bulk_create(rows)
    key, row = GoldKey.objects.first(), Annotation.objects.first()
    for place in (2, 3):
        for number in range(10):
            GoldCheck.objects.create(
                annotation=Annotation.objects.filter(surrogate_id=people[place].surrogate_id)[number],
                key=key,
                campaign=campaign,
                surrogate_id=people[place].surrogate_id,
                is_hit=place == 3,
                at=row.submitted_at,
            )
    boss = factories.user()
    factories.join(campaign, boss, Role.MANAGER)
    return campaign, people, boss


def test_a_manager_sees_whom_to_look_at_and_how_far_to_trust_it(client, watched):
    campaign, people, boss = watched
    client.force_login(boss)
    page = reverse("quality-behaviour", args=[campaign.slug])
    assert "Calculating…" in client.get(page).content.decode()
    factories.run_jobs()
    [row] = BehaviourSnapshot.objects.get().data["people"]
    assert (row["surrogate"], set(row["signals"]), row["gold"]) == (
        str(people[2].surrogate_id),
        {"pace", "sameness"},
        False,
    )
    body = client.get(page).content.decode()
    assert str(people[2]) in body
    assert "The same answer in 100% of 40 answers" in body
    assert "1 / 1" in body  # the one who is known to be bad
    assert "0 / 1" in body  # and the one who is known to be good


def test_nobody_is_compared_who_was_not_told(client, watched):
    campaign, _people, boss = watched
    campaign.scope.consent_texts.update(tells_behaviour=False)
    client.force_login(boss)
    page = reverse("quality-behaviour", args=[campaign.slug])
    client.get(page)
    factories.run_jobs()
    assert BehaviourSnapshot.objects.get().data["people"] == []
    assert "No annotators to compare" in client.get(page).content.decode()


def test_who_leaves_is_compared_with_nobody_any_more(client, watched):
    campaign, people, boss = watched
    client.force_login(boss)
    page = reverse("quality-behaviour", args=[campaign.slug])
    client.get(page)
    factories.run_jobs()
    participation_withdraw(campaign=campaign, surrogate_id=people[2].surrogate_id, now=timezone.now())
    assert not BehaviourSnapshot.objects.exists()
    client.get(page)
    factories.run_jobs()
    assert BehaviourSnapshot.objects.get().data["people"] == []


@pytest.mark.django_db
def test_leaving_deletes_what_was_tallied():
    campaign = factories.antique(items=2, n=2)
    person, assignment = told(campaign, tells=True)
    send(assignment, person)
    participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    assert not EventTally.objects.exists()
