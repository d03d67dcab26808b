"""Emails: who gets which, once, and what they say."""

import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, Membership, Role
from accounts.services import invitation_accept, invitation_create, token_hash
from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import CampaignState, MutedNotification, Notification, NotificationKind
from annotation.notifications.services import (
    failed_jobs_tell,
    kinds_choose,
    members,
    notifications_due,
    notify,
    notify_daily,
)
from annotation.people.services.standing import standing_move
from jobs.models import Job, JobState
from quality.dashboard.services import managers_tell
from quality.experts.services.opinions import case_discuss
from quality.experts.tasks import cases_tell
from quality.models import Case, CaseState
from quality.people.services.manager_acts import ManagerAct, person_act
from quality.people.services.suspensions import suspension_appeal, suspension_appeal_decide
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return factories.antique(items=2, n=1, title="Bridges and rivers")


def member(campaign, role):
    person = factories.user()
    factories.join(campaign, person, role)
    return person


def sent():
    """Send what waits; return (address, subject, body) of each email, oldest first."""
    mail.outbox.clear()
    factories.run_jobs()
    return [(message.to[0], message.subject, message.body) for message in mail.outbox]


def test_an_invited_person_reads_their_new_role_in_the_subject(campaign):
    boss, person = member(campaign, Role.MANAGER), factories.user()
    now = timezone.now()
    token = invitation_create(
        scope_id=campaign.pk, role=Role.EXPERT, uses=1, days=7, note="", actor_id=boss.surrogate_id, now=now
    )
    invitation_accept(token_sha256=token_hash(token), user=person, now=now)
    [(to, subject, body)] = sent()
    assert (to, subject) == (person.email, 'You\'re now an expert in "Bridges and rivers"')
    assert reverse("home") in body
    assert reverse("notifications") in body
    assert Invitation.objects.get().uses_left == 0


def test_a_removed_person_reads_which_role_they_lost(client, campaign):
    boss, person = member(campaign, Role.MANAGER), member(campaign, Role.ANNOTATOR)
    client.force_login(boss)
    membership = Membership.objects.get(user=person)
    client.post(reverse("membership-revoke", args=[campaign.slug, membership.pk]))
    assert [(to, subject) for to, subject, _ in sent()] == [
        (person.email, 'You\'re no longer an annotator in "Bridges and rivers"')
    ]


def test_members_hear_that_a_campaign_pauses_but_not_the_manager_who_paused_it(campaign):
    boss, other, person = (member(campaign, role) for role in (Role.MANAGER, Role.MANAGER, Role.ANNOTATOR))
    member(campaign, Role.RESEARCHER)
    campaign_move(campaign=campaign, to=CampaignState.PAUSED, actor_id=boss.surrogate_id, now=timezone.now())
    assert {(to, subject) for to, subject, _ in sent()} == {
        (other.email, '"Bridges and rivers" is paused'),
        (person.email, '"Bridges and rivers" is paused'),
    }
    campaign_move(campaign=campaign, to=CampaignState.OPEN, actor_id=boss.surrogate_id, now=timezone.now())
    assert {subject for _, subject, _ in sent()} == {'"Bridges and rivers" is open again'}


def test_a_suspended_annotator_reads_the_reason_and_how_to_appeal_and_what_came_of_it(campaign):
    boss, person = member(campaign, Role.MANAGER), factories.annotator(campaign)
    factories.vote(campaign, person, 1)
    sent()
    act = {"campaign": campaign, "surrogate_id": person.surrogate_id, "since": None, "actor_id": boss.surrogate_id}
    person_act(act=ManagerAct.SUSPEND, reason="Random answers.", now=timezone.now(), **act)
    subjects = {subject: body for to, subject, body in sent() if to == person.email}
    body = subjects['You\'ve been suspended from "Bridges and rivers"']
    assert "Random answers." in body
    assert "appeal" in body
    assert reverse("quality-standing", args=[campaign.slug]) in body
    review = suspension_appeal(
        campaign=campaign, surrogate_id=person.surrogate_id, text="I read them.", now=timezone.now()
    )
    suspension_appeal_decide(
        review=review, lift=False, answer="Gold says no.", actor_id=boss.surrogate_id, now=timezone.now()
    )
    [(to, subject, body)] = sent()
    assert (to, subject) == (person.email, 'Your appeal in "Bridges and rivers" was denied')
    assert "Gold says no." in body


def test_experts_hear_once_a_day_of_cases_that_they_can_judge(campaign):
    expert, stranger = member(campaign, Role.EXPERT), member(campaign, Role.ANNOTATOR)
    now = timezone.now() - timedelta(days=3)
    case = Case.objects.create(campaign=campaign, item=campaign.items.first(), opened_at=now)
    cases_tell(now + timedelta(minutes=1))
    cases_tell(now + timedelta(minutes=2))
    assert [(to, subject) for to, subject, _ in sent()] == [(expert.email, '1 case to judge in "Bridges and rivers"')]
    second = Case.objects.create(campaign=campaign, item=campaign.items.last(), opened_at=now + timedelta(hours=1))
    cases_tell(now + timedelta(hours=2))
    assert not sent()
    cases_tell(now + timedelta(hours=25))
    assert [subject for _, subject, _ in sent()] == ['2 cases to judge in "Bridges and rivers"']
    Case.objects.filter(pk__in=[case.pk, second.pk]).update(state=CaseState.RECALLED)
    cases_tell(now + timedelta(hours=60))
    assert not sent()
    assert stranger.email not in str(Notification.objects.values_list("user__email"))


def test_the_other_experts_hear_of_a_discussion(campaign):
    first = factories.user()
    case = factories.case_in_discussion(campaign, campaign.items.first(), first)
    told = sent()
    assert len(told) == 1
    assert told[0][1] == 'Case to discuss in "Bridges and rivers"'
    assert reverse("quality-case", args=[campaign.slug, case.pk]) in told[0][2]


def test_managers_hear_once_a_day_of_decisions_and_of_gold_that_runs_short(campaign):
    boss = member(campaign, Role.MANAGER)
    gold = {"states": {"active": 3}, "newcomers_left": 4}
    now = timezone.now()
    managers_tell(campaign, {"reviews": 2, "cases": 9}, gold, now)
    managers_tell(campaign, {"reviews": 3}, gold, now)
    assert {(to, subject) for to, subject, _ in sent()} == {
        (boss.email, '2 decisions to make in "Bridges and rivers"'),
        (boss.email, 'Gold questions are running low in "Bridges and rivers"'),
    }
    managers_tell(campaign, {"cases": 9}, {"states": {"active": 30}, "newcomers_left": 20}, now + timedelta(days=2))
    assert not sent()


def test_managers_hear_of_a_failed_job_once(campaign):
    boss, now = member(campaign, Role.MANAGER), timezone.now()
    Job.objects.create(
        kind="annotation.import_items",
        lane="bulk",
        payload={"name": "pairs.csv"},
        scope_id=campaign.pk,
        requested_by_id=boss.surrogate_id,
        state=JobState.FAILED,
        due_at=now,
        created_at=now,
        finished_at=now,
    )
    failed_jobs_tell(now)
    failed_jobs_tell(now + timedelta(hours=23))
    assert [(to, subject) for to, subject, _ in sent()] == [
        (boss.email, 'A job failed in "Bridges and rivers": pairs.csv')
    ]


def test_a_kind_that_is_turned_off_is_not_sent(client, campaign):
    person = member(campaign, Role.ANNOTATOR)
    client.force_login(person)
    assert client.get(reverse("notifications")).content.decode().count(" checked") == len(NotificationKind)
    kept = [kind.value for kind in NotificationKind if kind is not NotificationKind.CAMPAIGN]
    client.post(reverse("notifications"), {"kind": kept})
    assert [row.kind for row in MutedNotification.objects.filter(user=person)] == [NotificationKind.CAMPAIGN]
    campaign_move(campaign=campaign, to=CampaignState.PAUSED, actor_id=None, now=timezone.now())
    assert not sent()
    kinds_choose(user=person, wanted=NotificationKind.values)
    campaign_move(campaign=campaign, to=CampaignState.OPEN, actor_id=None, now=timezone.now())
    assert len(sent()) == 1


def test_a_change_that_is_rolled_back_tells_nobody(campaign):
    member(campaign, Role.ANNOTATOR)
    with transaction.atomic():
        campaign_move(campaign=campaign, to=CampaignState.PAUSED, actor_id=None, now=timezone.now())
        transaction.set_rollback(True)
    assert not sent()


class Down(EmailBackend):
    """A mail server that can't be reached."""

    def send_messages(self, messages):
        raise ConnectionRefusedError


class Picky(EmailBackend):
    """A mail server that knows no ann@example.org."""

    def send_messages(self, messages):
        if messages[0].to == ["ann@example.org"]:
            raise smtplib.SMTPRecipientsRefused({})
        return super().send_messages(messages)


def tell_all(campaign, kind=NotificationKind.CAMPAIGN):
    with transaction.atomic():
        users = members(campaign, Role.ANNOTATOR)
        return notify(campaign=campaign, kind=kind, users=users, now=timezone.now(), state="paused", first=False)


def test_what_a_mail_server_does_not_take_is_sent_later(campaign, settings):
    person = member(campaign, Role.ANNOTATOR)
    settings.EMAIL_BACKEND = f"{Down.__module__}.{Down.__qualname__}"
    tell_all(campaign)
    assert not sent()
    assert Job.objects.get(kind="annotation.notifications").state == JobState.QUEUED
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    Job.objects.filter(kind="annotation.notifications").delete()  # even if its job is gone
    notifications_due(timezone.now())
    assert [to for to, _, _ in sent()] == [person.email]
    assert not sent()


def test_one_address_that_takes_no_mail_keeps_nobody_elses_from_being_sent(campaign, settings):
    ann = factories.user("ann")
    factories.join(campaign, ann)
    bob = member(campaign, Role.ANNOTATOR)
    settings.EMAIL_BACKEND = f"{Picky.__module__}.{Picky.__qualname__}"
    tell_all(campaign)
    assert [to for to, _, _ in sent()] == [bob.email]
    assert not Notification.objects.filter(sent_at=None).exists()


def test_daily_emails_and_old_rows(campaign):
    member(campaign, Role.ANNOTATOR)
    now = timezone.now()
    daily = {
        "campaign": campaign,
        "kind": NotificationKind.GOLD,
        "users": members(campaign, Role.ANNOTATOR),
        "count": 1,
    }
    with transaction.atomic():
        counts = [notify_daily(now=now + timedelta(hours=hours), **daily) for hours in (0, 23, 25)]
    assert counts == [1, 0, 1]
    sent()
    notifications_due(now + timedelta(days=40))
    assert not Notification.objects.exists()


def test_a_title_cannot_add_a_header_and_a_chinese_campaign_writes_in_chinese(campaign):
    member(campaign, Role.ANNOTATOR)
    campaign.title, campaign.language = "Bridges\r\nBcc: x@example.org", "zh-hans"
    campaign.save()
    tell_all(campaign)
    [(_, subject, body)] = sent()
    assert "\n" not in subject
    assert "已暂停" in subject
    assert "To turn off these emails" not in body


def test_a_warned_annotator_reads_why(campaign):
    person = member(campaign, Role.ANNOTATOR)
    with transaction.atomic():
        standing_move(
            campaign=campaign,
            surrogate_id=person.surrogate_id,
            to="warned",
            actor_id=None,
            now=timezone.now(),
            score=3.2,
        )
    [(_, subject, body)] = sent()
    assert subject == 'Warning about your work in "Bridges and rivers"'
    assert "You gave wrong answers to several questions" in body


def test_a_message_in_a_discussion_is_news_at_most_once_a_day(campaign):
    expert = factories.user()
    case = factories.case_in_discussion(campaign, campaign.items.first(), expert)
    sent()
    case_discuss(case=case, surrogate_id=expert.surrogate_id, text="Look at the date.", now=timezone.now())
    assert len(sent()) == 1
    case_discuss(case=case, surrogate_id=expert.surrogate_id, text="And the author.", now=timezone.now())
    assert not sent()
    Notification.objects.update(created_at=timezone.now() - timedelta(hours=25))
    case_discuss(case=case, surrogate_id=expert.surrogate_id, text="And the place.", now=timezone.now())
    assert len(sent()) == 1
