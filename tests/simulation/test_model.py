"""A crowd's model: what is drawn from it, what is fitted to judgments, and what follows from a seed."""

import numpy as np
import pytest

from simulation.assumed import assumed, no_majority_of, vote_counts
from simulation.fit import fitted, rows_of
from simulation.model import votes
from simulation.people import Habits, Kind, people_of
from simulation.world import DrawnWorld, KnownWorld


@pytest.fixture(scope="module")
def crowd():
    return assumed("1234", no_majority=0.13, prior=[1, 3, 3, 3], alike=8.0)


def played(model, items, people, each, seed):
    """Return judgments that people of a model made, as rows with names, and the truth."""
    chance = np.random.default_rng(seed)
    true, said = model.items(items, chance)
    places = model.people(people, chance)
    rows = []
    for item in range(items):
        for who in chance.choice(people, each, replace=False):
            place = places[who : who + 1]
            label = votes(said[item : item + 1], model.care[place], model.habits[place], chance)[0]
            rows.append((f"i{item}", f"p{who}", model.labels[label]))
    return rows, {f"i{item}": model.labels[label] for item, label in enumerate(true)}


def test_an_assumed_crowd_disagrees_as_often_as_was_said(crowd):
    assert no_majority_of(crowd, 3, seed=99) == pytest.approx(0.13, abs=0.01)
    assert no_majority_of(assumed("1234", no_majority=0.05), 3, seed=99) == pytest.approx(0.05, abs=0.01)


def test_no_crowd_is_invented_that_cannot_be():
    with pytest.raises(ValueError, match=r"leaves 90\.0% without a majority"):
        assumed("12", no_majority=0.9)


def test_a_fitted_crowd_is_right_and_agrees_as_often_as_the_one_it_was_fitted_to(crowd):
    rows, truth = played(crowd, 600, 60, 5, 3)
    model = fitted(rows_of(rows, truth, crowd.labels))
    before, after = (vote_counts(one, 3, np.random.default_rng(5)) for one in (crowd, model))
    assert (2 * after.max(axis=1) <= 3).mean() == pytest.approx((2 * before.max(axis=1) <= 3).mean(), abs=0.04)
    assert model.care.mean() == pytest.approx(crowd.care.mean(), abs=0.12)
    assert np.abs(model.prior - crowd.prior).max() < 0.05


def test_without_known_labels_a_fit_still_finds_who_does_not_read(crowd):
    rows, _ = played(crowd, 400, 40, 5, 4)
    chance = np.random.default_rng(6)
    rows += [(f"i{item}", "clicker", str(chance.integers(1, 5))) for item in range(400)]
    found = rows_of(rows, labels=crowd.labels)
    model = fitted(found)
    clicker = found.person[-1]
    assert model.care[clicker] < np.quantile(model.care, 0.05) + 1e-9


def test_what_is_right_of_a_pair_follows_from_seed_and_text_alone(crowd):
    first, second = DrawnWorld(crowd, 7), DrawnWorld(crowd, 7)
    one, other = first.pair("why  is\nit so", "because"), second.pair("why is it so", " because ")
    assert one.true == other.true
    assert np.array_equal(one.said, other.said)
    others = [DrawnWorld(crowd, 8).pair(f"q{number}", "a").true for number in range(50)]
    assert others != [DrawnWorld(crowd, 9).pair(f"q{number}", "a").true for number in range(50)]
    assert DrawnWorld(crowd, 7, {("q", "a"): 2}).pair("q", "a").said[2] == 1


def test_a_known_world_says_what_stands_in_its_table():
    world = KnownWorld((1, 2, 3, 4), {("q", "a"): 4}, otherwise=2, hard=frozenset([("q", "b")]))
    assert world.pair("q", " a").said.tolist() == [0, 0, 0, 1]
    assert world.pair("q", "b").said.tolist() == [0.25] * 4
    assert world.pair("q", "c").true == 1


def test_people_answer_the_same_item_the_same_way_whenever_they_are_asked(crowd):
    people, world = people_of(crowd, 40, seed=3, spam=0.2), DrawnWorld(crowd, 3)
    said = [[person.choose(f"q{n}", world.pair(f"q{n}", "a").said) for n in range(30)] for person in people]
    again = people_of(crowd, 40, seed=3, spam=0.2)
    assert said == [[person.choose(f"q{n}", world.pair(f"q{n}", "a").said) for n in range(30)] for person in again]
    assert said != [
        [person.choose(f"q{n}", world.pair(f"q{n}", "a").said) for n in range(30)]
        for person in people_of(crowd, 40, seed=4, spam=0.2)
    ]


def test_spam_does_the_share_of_work_that_was_asked_for_and_is_what_it_says(crowd):
    people, world = people_of(crowd, 600, seed=5, spam=0.12), DrawnWorld(crowd, 5)
    loads = {kind: sum(one.load for one in people if one.kind is kind) for kind in Kind}
    assert 1 - loads[Kind.HONEST] / sum(loads.values()) == pytest.approx(0.12, abs=0.01)
    items = [(f"q{n}", world.pair(f"q{n}", "a").said) for n in range(60)]
    constant = next(one for one in people if one.kind is Kind.CONSTANT)
    assert len({constant.choose(*item) for item in items}) == 1
    copier = next(one for one in people if one.kind is Kind.COPIER)
    assert [copier.choose(*item) for item in items] == [copier.copies.choose(*item) for item in items]
    script = next(one for one in people if one.kind is Kind.SCRIPT)
    assert len({script.seconds(key, 50) for key, _ in items}) == 1


def test_a_few_people_do_most_of_the_work_and_tire(crowd):
    people = people_of(crowd, 500, seed=6)
    loads = sorted((one.load for one in people), reverse=True)
    assert sum(loads[:100]) / sum(loads) > 0.5  # a fifth of them
    tired = people[0]
    fresh = tired.attention()
    for _ in range(200):
        tired.done()
    assert tired.attention() < fresh
    tired.rested()
    assert tired.attention() == pytest.approx(fresh)


def test_who_drifts_reads_nothing_any_more(crowd):
    drifting = people_of(crowd, 1, seed=7, habits=Habits(drift=1.0))[0]
    assert drifting.attention() > 0
    for _ in range(700):
        drifting.done()
    assert drifting.attention() == 0


def test_longer_texts_take_longer_and_people_differ(crowd):
    people = people_of(crowd, 200, seed=8)
    short, long = (np.mean([one.seconds(f"k{n}", n) for one in people]) for n in (10, 200))
    assert long > 1.5 * short
    assert len({round(one.hurry, 6) for one in people}) == 200


def test_rows_keep_the_last_judgment_of_a_person_and_refuse_nothing_at_all():
    rows = rows_of([("a", "x", "1"), ("a", "x", "2"), ("b", "x", "1")], {"a": "2"})
    assert rows.label.tolist() == [1, 0]
    assert rows.true.tolist() == [1, -1]
    with pytest.raises(ValueError, match="no judgment"):
        rows_of([])
