"""Examining: each annotation once, nothing swallowed, what cannot be examined is shown and tried again."""

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Standing
from annotation.work.services.undo import submission_undo
from jobs.models import Job
from quality.examination.services import FEWEST, LONGEST_SECONDS, MOST, examine_due, next_size
from quality.models import Case, GoldCheck, Inspection, Unexamined, Verdict
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db


def broken(campaign):
    """Give a pair its vote with an answer that no vote can be read from; return the annotation."""
    made = factories.vote(campaign, factories.annotator(campaign), 4)
    Annotation.objects.filter(pk=made.pk).update(answer={"way": ""}, redacted_at=timezone.now())
    return made


def repair(annotation):
    Annotation.objects.filter(pk=annotation.pk).update(answer={"label": 4, "way": ""}, redacted_at=timezone.now())


def test_what_cannot_be_examined_is_shown_tried_again_and_keeps_nobody_else_waiting(client, now, caplog):
    campaign = factories.antique(items=2, n=1)
    first = broken(campaign)
    factories.vote(campaign, factories.annotator(campaign), 3)
    factories.examine(campaign)
    assert [verdict.label for verdict in Verdict.objects.all()] == [3]
    row = Unexamined.objects.get()
    assert (row.annotation_id, row.attempts) == (first.pk, 1)
    assert "KeyError" in row.error
    first.refresh_from_db()
    assert not first.is_examined

    boss = factories.user()
    factories.join(campaign, boss, "manager")
    client.force_login(boss)
    page = client.get(f"/campaigns/{campaign.slug}/review/").content.decode()
    assert "couldn't be checked" in page
    assert "KeyError" in page

    factories.examine(campaign)  # it rests for a while
    assert Unexamined.objects.get().attempts == 1
    repair(first)
    client.post(f"/campaigns/{campaign.slug}/review/examine/0/")
    factories.run_jobs()
    assert not Unexamined.objects.exists()
    assert Verdict.objects.filter(item=first.item_id, label=4).exists()


def test_what_rests_is_found_again_by_the_sweep(now):
    campaign = factories.antique(items=1, n=1)
    first = broken(campaign)
    factories.examine(campaign)
    Job.objects.all().delete()
    examine_due(now)
    assert not Job.objects.exists()
    repair(first)
    Unexamined.objects.update(try_at=now)
    examine_due(timezone.now())
    factories.run_jobs()
    assert Verdict.objects.get().label == 4


def test_a_database_that_is_busy_loses_no_verdict():
    campaign = factories.antique(items=1, n=1)
    factories.vote(campaign, factories.annotator(campaign), 4)
    failed = []

    def busy(execute, sql, params, many, context):
        if "INTO" in sql and "quality_verdict" in sql and not failed:
            failed.append(sql)
            raise OperationalError("database is locked")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(busy):
        factories.examine(campaign)
    assert failed
    job = Job.objects.get(kind="quality.examine")
    assert (job.state, Verdict.objects.count(), Unexamined.objects.count()) == ("queued", 0, 0)
    Job.objects.update(due_at=timezone.now())
    factories.run_jobs()
    assert Verdict.objects.get().label == 4


def test_many_annotations_are_examined_with_the_statements_of_a_few():
    counts = []
    for items in (2, 6):
        campaign = factories.antique(items=items, n=3, policy=Policy(inspection_rate=1))
        for person in [factories.annotator(campaign) for _ in range(3)]:
            for _ in range(items):
                factories.vote(campaign, person, 4)
        with CaptureQueriesContext(connection) as asked:
            factories.examine(campaign)
        assert Verdict.objects.filter(campaign=campaign, rule="majority").count() == items
        assert Inspection.objects.filter(campaign=campaign).count() == 3 * items
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_transaction_grows_while_it_is_short_and_shrinks_while_it_is_long():
    quick, slow = LONGEST_SECONDS / 2, LONGEST_SECONDS
    assert (next_size(FEWEST, quick), next_size(MOST, quick)) == (2 * FEWEST, MOST)
    assert (next_size(MOST, slow), next_size(FEWEST, slow)) == (MOST // 2, FEWEST)


def test_a_backlog_is_examined_whole(monkeypatch):
    campaign = factories.antique(items=4, n=3)
    for person in [factories.annotator(campaign) for _ in range(3)]:
        for _ in range(4):
            factories.vote(campaign, person, 4)
    monkeypatch.setattr("quality.examination.services.FEWEST", 1)
    monkeypatch.setattr("quality.examination.services.LONGEST_SECONDS", 3600)
    factories.examine(campaign)
    assert Verdict.objects.filter(campaign=campaign, rule="majority").count() == 4
    assert not Annotation.objects.filter(is_examined=False).exists()


def test_a_gold_miss_that_was_undone_is_the_check_all_the_same(now):
    policy = Policy(gold_rate=0, gold_first=2, gold_first_items=2, inspection_rate=0)
    campaign = factories.antique(items=6, n=1, gold=4, policy=policy)
    person = factories.annotator(campaign)
    first = factories.vote(campaign, person, 4)
    factories.examine(campaign)
    second = factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert [check.is_hit for check in GoldCheck.objects.order_by("pk")] == [True, False]
    place = campaign.participations.get(surrogate=person.surrogate_id)
    assert place.standing in (Standing.ACTIVE, Standing.WARNED)
    submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    factories.submit(factories.label(factories.claim(campaign, person), 4))
    factories.examine(campaign)
    from quality.people.services.pauses import assessment_of

    found = assessment_of(campaign=campaign, policy=policy, surrogate_id=person.surrogate_id)
    assert found.checks == GoldCheck.objects.count() == 2
    assert found.score > 0
    second.refresh_from_db()
    assert (first.state, second.state) == ("counted", "undone")


def test_a_round_that_was_closed_opens_again_with_the_slots_it_had(now):
    """Votes that disagree after an exclusion want the second round again that an earlier majority had closed."""
    from annotation.models import Slot
    from annotation.slots.services.exclusions import annotation_exclude

    campaign = factories.antique(items=1, n=3)
    votes = [factories.vote(campaign, factories.annotator(campaign), label) for label in (4, 3, 2)]
    factories.examine(campaign)
    assert Slot.objects.filter(round=2, state="open").count() == 3
    annotation_exclude(annotation=votes[0], because="test", actor_id=None, now=now)
    factories.examine(campaign)
    assert set(Slot.objects.filter(round=2).values_list("state", "is_wanted")) == {("closed", False)}
    factories.vote(campaign, factories.annotator(campaign), 1)
    factories.examine(campaign)
    assert set(Slot.objects.filter(round=2).values_list("state", "is_wanted")) == {("open", True)}
    assert not Case.objects.exists()
