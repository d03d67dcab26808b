"""After a withdrawal nothing leads from the person to their work: no key, and no exact moment that both sides hold."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Annotation, CountedChange
from annotation.people.services.withdrawal import participation_withdraw
from quality.models import GoldCheck, Verdict
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db


def test_no_row_names_both_the_person_and_their_work(now):
    campaign = factories.antique(items=6, n=1, gold=4, policy=Policy(gold_rate=0, gold_first=3, gold_first_items=4))
    person = factories.annotator(campaign)
    made = [factories.vote(campaign, person, 4) for _ in range(6)]
    factories.examine(campaign)
    assert GoldCheck.objects.filter(surrogate=person.surrogate_id).exists()
    before = person.surrogate_id
    participation_withdraw(campaign=campaign, surrogate_id=before, now=timezone.now())
    work = {"assignment", "annotation", "slot", "item"}
    for model in apps.get_models():
        fields = {field.name: field for field in model._meta.get_fields() if field.is_relation and field.concrete}
        people = [
            name
            for name, field in fields.items()
            if field.related_model and field.related_model._meta.label == "accounts.Surrogate"
        ]
        if people and work & set(fields):
            for name in people:
                assert not model.objects.filter(**{name: before}).exists(), (model, name)
    moments = {row.at for row in CountedChange.objects.filter(annotation__in=made)}
    assert {(at.hour, at.minute, at.second, at.microsecond) for at in moments} == {(0, 0, 0, 0)}


def test_a_vote_that_was_withdrawn_is_in_no_release_even_before_anybody_looked(tmp_path):
    campaign = factories.antique(items=1, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert Verdict.objects.filter(superseded_at=None).count() == 1
    participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    call_command("release", campaign.slug, "--format", "labels", "--to", str(tmp_path), "--json")
    import gzip
    import json

    assert gzip.open(tmp_path / "train-labels.jsonl.gz").read() == b""
    assert json.loads((tmp_path / "manifest.json").read_text())["shortfall"] == 1


def test_a_submission_that_meets_a_withdrawal_finds_no_assignment(now):
    from annotation.work.services.assignments import NoSuchAssignment

    campaign = factories.antique(items=1, n=1)
    person = factories.annotator(campaign)
    assignment = factories.label(factories.claim(campaign, person), 4)
    participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=now + timedelta(seconds=1))
    with pytest.raises(NoSuchAssignment):
        factories.submit(assignment)
    assert not Annotation.objects.exists()
    with pytest.raises(CommandError):
        call_command("release", "nowhere", "--format", "labels", "--to", "out")


def test_what_is_taken_back_while_the_sweep_runs_stays(now, monkeypatch):
    from annotation.people.services import withdrawal

    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    asked = withdrawal.withdrawal_ask(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert withdrawal.withdrawal_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    assert withdrawal._apply(asked, now + timedelta(days=8)) is False
    assert Annotation.objects.get().state == "counted"


def test_who_asked_to_leave_takes_nothing_back_to_answer_it_again(now):
    from annotation.people.services.withdrawal import withdrawal_ask
    from annotation.work.services.undo import NothingToUndo, submission_undo

    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    withdrawal_ask(campaign=campaign, surrogate_id=person.surrogate_id, now=now)
    with pytest.raises(NothingToUndo):
        submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
