"""The pure rules of the protocol."""

from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.protocol import answers, fees, forms, lifecycle, questions, requirements
from marketplace.protocol.errors import RequestError
from marketplace.throttle import Buckets
from tests.marketplace.quiz import ANSWER_KEY, TEST


@pytest.mark.parametrize(
    ("reward", "places", "fee"),
    [
        ("0.10", 9, "0.02"),
        ("0.10", 10, "0.04"),
        ("0.01", 1, "0.01"),
        ("0.00", 1, "0.01"),
        ("0.07", 1, "0.01"),
        ("0.08", 1, "0.02"),
        ("0.52", 1, "0.10"),
        ("0.53", 1, "0.11"),
        ("0.125", 1, "0.03"),
        ("5.00", 100, "2.00"),
    ],
)
def test_fees_by_the_published_rules(reward, places, fee):
    assert fees.PUBLISHED.on_reward(Decimal(reward), places) == Decimal(fee)


def test_fees_of_a_bonus_know_no_number_of_assignments():
    assert fees.PUBLISHED.on_bonus(Decimal("1.00")) == Decimal("0.20")
    assert fees.NONE.on_bonus(Decimal("1.00")) == fees.NONE.on_reward(Decimal("1.00"), 10) == 0


@pytest.mark.parametrize(
    ("comparator", "wanted", "value", "met"),
    [
        ("LessThan", [5], 4, True),
        ("LessThan", [5], 5, False),
        ("LessThanOrEqualTo", [5], 5, True),
        ("GreaterThan", [5], 5, False),
        ("GreaterThanOrEqualTo", [5], 5, True),
        ("EqualTo", [5], 5, True),
        ("NotEqualTo", [5], 5, False),
        ("In", [1, 5], 5, True),
        ("NotIn", [1, 5], 5, False),
        ("NotIn", [1, 5], 4, True),
        ("EqualTo", [5], None, False),
    ],
)
def test_integers_are_compared(comparator, wanted, value, met):
    requirement = {
        "QualificationTypeId": "3Q",
        "Comparator": comparator,
        "IntegerValues": wanted,
        "ActionsGuarded": "Accept",
    }
    assert requirements.is_met(requirement, {"3Q": value}) is met
    assert not requirements.is_met(requirement, {})


@pytest.mark.parametrize(
    ("comparator", "wanted", "place", "met"),
    [
        ("EqualTo", [{"Country": "US"}], ("US", "CA"), True),
        ("EqualTo", [{"Country": "US", "Subdivision": "NY"}], ("US", "CA"), False),
        ("In", [{"Country": "DE"}, {"Country": "US", "Subdivision": "CA"}], ("US", "CA"), True),
        ("NotIn", [{"Country": "DE"}], ("US", ""), True),
        ("NotEqualTo", [{"Country": "US"}], ("US", "CA"), False),
        ("EqualTo", [{"Country": "US", "Subdivision": "CA"}], ("US", ""), False),
    ],
)
def test_locales_are_compared(comparator, wanted, place, met):
    requirement = {"QualificationTypeId": requirements.LOCALE, "Comparator": comparator, "LocaleValues": wanted}
    assert requirements.is_met(requirement, {requirements.LOCALE: place}) is met


def test_exists_asks_for_nothing_but_holding():
    exists = {"QualificationTypeId": "3Q", "Comparator": "Exists"}
    assert requirements.is_met(exists, {"3Q": None})
    assert not requirements.is_met(exists, {})
    assert requirements.is_met(exists | {"Comparator": "DoesNotExist"}, {})


@pytest.mark.parametrize(
    "broken",
    [
        {"Comparator": "Exists", "IntegerValues": [1]},
        {"Comparator": "EqualTo"},
        {"Comparator": "EqualTo", "IntegerValues": [1, 2]},
        {"Comparator": "In", "IntegerValues": list(range(16))},
        {"Comparator": "EqualTo", "LocaleValues": [{"Country": "DE"}]},
        {"QualificationTypeId": requirements.LOCALE, "Comparator": "LessThan", "LocaleValues": [{"Country": "DE"}]},
        {"QualificationTypeId": requirements.LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
        {
            "QualificationTypeId": requirements.LOCALE,
            "Comparator": "EqualTo",
            "LocaleValues": [{"Country": "DE"}, {"Country": "FR"}],
        },
        {"QualificationTypeId": requirements.LOCALE, "Comparator": "In", "LocaleValues": [{"Country": "DE"}] * 31},
        {"Comparator": "Exists", "RequiredToPreview": True, "ActionsGuarded": "Accept"},
    ],
)
def test_requirements_that_contradict_themselves_are_refused(broken):
    with pytest.raises(RequestError, match=r"QualificationRequirements\[0\]"):
        requirements.normalise([{"QualificationTypeId": "3Q", **broken}])


def test_eleven_requirements_are_too_many():
    with pytest.raises(RequestError, match="at most 10"):
        requirements.normalise([{"QualificationTypeId": "3Q", "Comparator": "Exists"}] * 11)


@pytest.mark.parametrize(
    ("guarded", "stopped"),
    [
        ("Accept", ["Accept"]),
        ("PreviewAndAccept", ["Accept", "Preview"]),
        ("DiscoverPreviewAndAccept", ["Accept", "Preview", "Discover"]),
    ],
)
def test_what_a_requirement_guards(guarded, stopped):
    listed = requirements.normalise([{"QualificationTypeId": "3Q", "Comparator": "Exists", "ActionsGuarded": guarded}])
    assert [action for action in ("Accept", "Preview", "Discover") if requirements.unmet(listed, {}, action)] == stopped


def test_a_test_is_parsed_and_scored():
    form = forms.parse_form(TEST)
    assert [(field.identifier, field.is_choice, field.most, field.lines) for field in form.fields] == [
        ("depth", True, 1, 1),
        ("signs", True, 2, 1),
        ("why", False, 1, 3),
    ]
    key = forms.parse_key(ANSWER_KEY, form)
    right = [answers.Answer("depth", selections=("water",)), answers.Answer("signs", selections=("light", "buoy"))]
    assert key.score(right) == 100
    assert key.score(right[:1]) == 75
    assert key.score([]) == 0


@pytest.mark.parametrize(
    "change",
    [
        ("water</Sel", "wine</Sel"),
        ("<QuestionIdentifier>depth", "<QuestionIdentifier>why"),
        ("MaximumSummedScore>4", "MaximumSummedScore>x"),
    ],
)
def test_a_key_that_does_not_fit_its_test_is_refused(change):
    with pytest.raises(RequestError):
        forms.parse_key(ANSWER_KEY.replace(*change), forms.parse_form(TEST))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=8))
def test_answers_survive_their_xml(fields):
    stored = answers.from_form(fields)
    again = answers.from_xml(answers.to_xml(stored))
    assert len(again) == len(stored)
    for before, after in zip(stored, again, strict=True):
        kept = "".join(one for one in before.text if one in "\t\n\r" or (one >= " " and one not in "\ufffe\uffff"))
        assert after.text == kept.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/t", "https://a.example/t?a=1"),
        ("https://a.example/t?x=2", "https://a.example/t?x=2&a=1"),
        ("https://a.example/t?", "https://a.example/t?a=1"),
        ("https://a.example/t?x=2&", "https://a.example/t?x=2&a=1"),
        ("https://a.example/t#part", "https://a.example/t?a=1#part"),
    ],
)
def test_parameters_follow_those_that_are_there(url, expected):
    assert questions.frame_url(url, {"a": "1"}) == expected


@given(st.dictionaries(st.sampled_from(["assignmentId", "workerId", "turkSubmitTo"]), TEXT))
def test_parameters_come_back_as_they_were(parameters):
    query = urlsplit(questions.frame_url("https://a.example/t?x=1", parameters)).query
    assert dict(parse_qsl(query, keep_blank_values=True)) == {"x": "1", **parameters}


@pytest.mark.parametrize(
    ("before", "available", "pending", "expired", "after"),
    [
        ("Assignable", 1, 0, False, "Assignable"),
        ("Assignable", 0, 1, False, "Unassignable"),
        ("Assignable", 1, 1, True, "Unassignable"),
        ("Unassignable", 0, 0, False, "Reviewable"),
        ("Assignable", 1, 0, True, "Reviewable"),
        ("Reviewing", 0, 0, True, "Reviewing"),
        ("Reviewing", 1, 0, False, "Assignable"),
        ("Disposed", 1, 0, False, "Disposed"),
    ],
)
def test_states_of_a_hit(before, available, pending, expired, after):
    assert lifecycle.hit_state(before=before, available=available, pending=pending, expired=expired) == after


def test_a_bucket_empties_and_fills_again():
    buckets = Buckets(burst_seconds=2.0)
    assert [buckets.take("a", rate=1, at=0.0) for _ in range(3)] == [True, True, False]
    assert buckets.take("b", rate=1, at=0.0)
    assert buckets.take("a", rate=1, at=1.0)
    assert not buckets.take("a", rate=1, at=1.0)
