"""Whose work counts when people leave, are erased, come back or share ids, and what is paid then."""

from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Consent, ExternalIdentity
from annotation.models import Annotation, Standing, Withdrawal
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import withdrawals_apply
from quality.models import Verdict
from simulation.browser import Browser
from simulation.doors.market import SUBMIT
from tests import factories
from tests.workforces.acts import answer_one, by_link, path, readdressed, rounds, send, signed, text_of, visit_of
from tests.workforces.link.panel import come, confirm, link, statement_of, states, unsigned, work
from workforces.models import Errand, LedgerEntry, Posting, Ticket
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add


def erase(ticket):
    return Client().post(statement_path(ticket), {"erase": "yes"})


def hand_in(url, **fields):
    """Hand an assignment in as a browser does, whatever our page says."""
    arrival = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    submit = urlsplit(arrival["turkSubmitTo"])
    address = f"http://127.0.0.1:{submit.port}{submit.path.rstrip('/')}/mturk/externalSubmit"
    form = urlencode({"assignmentId": arrival["assignmentId"], **fields}).encode()
    with urlopen(Request(address, form, {"Host": submit.netloc}), timeout=10) as response:
        assert response.status == 200


@pytest.fixture
def known(desk):
    """Return a marketplace that signs nothing, a worker there whose first HIT is paid, and its ticket."""
    made = desk(items=1, n=3, sign=False, terms={"places": 1})
    rounds(made, 2)
    worker = made.worker("w")
    worker.work()
    rounds(made, 2)
    return made, worker, Ticket.objects.get()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_erased", [True, False])
def test_one_worker_is_one_vote_though_erased_while_visits_wait(known, is_erased):
    made, worker, first = known
    worker.work()
    worker.work()
    if is_erased:
        assert erase(first).status_code == 200
    rounds(made)
    assert sorted(states()) == ["counted", "given_up", "given_up"]
    factories.examine(made.campaign)
    assert not Verdict.objects.exists()
    assert LedgerEntry.objects.filter(kind="reward").count() == 3  # what was submitted is paid


@pytest.fixture(params=[Standing.ACTIVE, Standing.SUSPENDED])
def in_standing(known, request):
    """Return the same, of a worker in good standing and of one who was suspended since."""
    made, _worker, first = known
    if request.param != Standing.ACTIVE:
        with transaction.atomic():
            standing_move(
                campaign=made.campaign,
                surrogate_id=first.surrogate_id,
                to=request.param,
                actor_id=None,
                now=timezone.now(),
                reason="gold",
            )
    return known


@pytest.mark.django_db(transaction=True)
def test_who_was_erased_is_no_second_vote_under_an_invented_name(in_standing):
    made, worker, first = in_standing
    assert erase(first).status_code == 200
    page = answer_one(readdressed(worker.take().frame, workerId="AINVENTED"))
    send(page.form_to(SUBMIT))
    rounds(made, 4)
    assert states() == ["counted", "given_up"]
    assert not ExternalIdentity.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_who_may_have_no_more_is_kept_out_of_new_hits_though_nothing_is_signed(in_standing):
    made, worker, _first = in_standing
    for _ in range(4):
        worker.work()
        rounds(made)
    assert states().count("counted") == 1
    assert LedgerEntry.objects.filter(kind="reward").count() <= 2


@pytest.mark.django_db(transaction=True)
def test_what_a_worker_hands_in_after_they_were_erased_makes_them_nobody_new(known):
    made, worker, first = known
    taken = worker.take()  # never opened here
    assert erase(first).status_code == 200
    hand_in(taken.frame, label="4")
    rounds(made)
    assert (Ticket.objects.count(), Ticket.objects.get(problem__gt="").state) == (2, "unmatched")
    assert not ExternalIdentity.objects.exists()
    rounds(made)
    assert Ticket.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_suspension_is_not_left_behind_by_being_erased(known):
    made, worker, first = known
    worker.work()
    with transaction.atomic():
        standing_move(
            campaign=made.campaign,
            surrogate_id=first.surrogate_id,
            to=Standing.SUSPENDED,
            actor_id=None,
            now=timezone.now(),
            reason="gold",
        )
    erase(first)
    rounds(made, 2)
    assert sorted(states()) == ["counted", "given_up"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sign", [True, False])
def test_a_task_handed_in_before_its_work_is_done_waits_for_a_manager(desk, sign):
    made = desk(items=10, n=1, sign=sign, terms={"items_per_ticket": 10, "reward_cents": 50})
    made.round()
    url = made.worker("w").take().frame
    answer_one(url)
    hand_in(url)
    rounds(made)
    ticket = Ticket.objects.get()
    assert ticket.state == "unmatched" and ticket.problem
    assert states() == ["given_up"]
    assert not Errand.objects.filter(kind="approve").exists() and not LedgerEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("trained", [True, False])
def test_a_task_whose_items_were_skipped_waits_for_a_manager(desk, trained):
    """With training, nothing else was done at all."""
    terms = {"items_per_ticket": 4, "reward_cents": 50, "training_bonus_cents": 7}
    made = desk(items=4, n=1, sign=True, has_training=trained, terms=terms)
    made.round()
    worker = made.worker("w", skips=1.0)
    if trained:
        assert worker.work() == "handed_in"
    else:
        page = answer_one(worker.take().frame)
        while (skip := page.form_to("/skip/")) is not None:
            page = Browser().send(skip, reason="unclear")
        Browser().send(page.form_to(SUBMIT))
    assert Ticket.objects.get().work.count() == (0 if trained else 1)
    rounds(made)
    ticket = Ticket.objects.get()
    assert (ticket.state, ticket.problem) == ("unmatched", "Submitted with fewer items than required")
    assert not Errand.objects.filter(kind__in=["approve", "bonus"]).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ends", ["the quota", "the items"])
def test_an_answer_in_each_of_several_tasks_is_not_paid_like_several_that_are_done(desk, ends):
    items, quota = (9, 3) if ends == "the quota" else (3, None)
    made = desk(items=items, n=3, quota=quota, terms={"items_per_ticket": 3, "reward_cents": 50, "places": 1})
    rounds(made)
    worker = made.worker("w")
    pages = [answer_one(worker.take().frame) for _ in range(3)]
    for page in pages:
        Browser().send(Browser().get(page.url).form_to(SUBMIT))
    rounds(made)
    assert Annotation.objects.count() == 3
    assert list(Ticket.objects.values_list("state", flat=True)) == ["unmatched"] * 3
    assert not Errand.objects.filter(kind="approve").exists()


@pytest.mark.django_db(transaction=True)
def test_who_did_all_that_was_left_is_paid(desk):
    made = desk(items=4, n=1, terms={"items_per_ticket": 3, "reward_cents": 50})
    made.round()
    worker = made.worker("w")
    assert [worker.work(), worker.work()] == ["handed_in"] * 2
    rounds(made)
    assert set(Ticket.objects.values_list("state", flat=True)) == {"approved"}
    assert states() == ["counted"] * 4


@pytest.mark.django_db
def test_a_visit_whose_items_were_skipped_does_not_leave_with_the_code_of_whole_work():
    codes = {"code_completed": "WHOLE-WORK", "code_nothing_left": "NOTHING-LEFT"}
    row = link(factories.antique(items=4, n=1), items_per_ticket=4, **codes)
    client, page = come(by_link(row, "p1", "s1"))
    page = client.post(path(page, "answer"), {"stage": "relevance", "version": "0", "label": "4"}, follow=True)
    while "/skip/" in page.content.decode():
        page = client.post(path(page, "skip"), {"reason": "unclear"}, follow=True)
    last = page.content.decode()
    assert "NOTHING-LEFT" in last and "WHOLE-WORK" not in last


@pytest.mark.django_db(transaction=True)
def test_a_refusal_is_undone_before_the_same_ticket_is_accepted(desk):
    made = desk(items=2, n=3, sign=False, terms={"undo_seconds": 600, "reward_cents": 50})
    made.round()
    url = made.worker("w").take().frame
    answer_one(url)
    hand_in(url)  # without our code
    made.round()
    ticket, boss = Ticket.objects.get(), Client()
    assert ticket.state == "unmatched"
    boss.force_login(factories.user(is_admin=True))
    page, decide = (f"/campaigns/{made.campaign.slug}/review/{rest}" for rest in ("", f"ticket/{ticket.pk}/"))
    assert decide in boss.get(page).content.decode()
    boss.post(decide, {"choice": "refuse", "reason": "no code"})
    assert decide not in boss.get(page).content.decode()
    answer = boss.post(decide, {"choice": "accept"}, follow=True)
    assert "Undo the refusal first" in answer.content.decode()
    ticket.refresh_from_db()
    assert (ticket.state, states()) == ("unmatched", ["given_up"])
    boss.post(f"/campaigns/{made.campaign.slug}/review/undo/{Errand.objects.get(kind='reject').pk}/")
    boss.post(decide, {"choice": "accept"})
    rounds(made)
    ticket.refresh_from_db()
    assert (ticket.state, states()) == ("approved", ["counted"])


@pytest.mark.django_db
def test_who_comes_back_by_another_visit_is_not_withdrawn():
    row = link(factories.antique(items=8, n=1))
    client, page = come(by_link(row, "p1", "s1"))
    client.post(statement_of(work(client, page)), {"withdraw": "yes"})
    work(*come(unsigned(row, "p1", "s2")))  # agrees again
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\n")
    assert not Withdrawal.objects.exists()
    withdrawals_apply(timezone.now() + timedelta(days=8))
    assert states() == ["counted"] * 4
    person = ExternalIdentity.objects.get().surrogate_id
    assert Consent.objects.filter(surrogate_id=person, withdrawn_at=None).count() == 1


@pytest.mark.django_db
def test_a_visit_that_waits_is_kept_by_who_comes_back_in_any_way():
    row = link(factories.antique(items=8, n=1))
    client, page = come(by_link(row, "p1", "s1"))
    statement = statement_of(work(client, page))
    work(*come(unsigned(row, "p1", "s2")))  # waits for the panel's list
    client.post(statement, {"withdraw": "yes"})
    come(by_link(row, "p1", "s3"))  # agrees again
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\n")
    withdrawals_apply(timezone.now() + timedelta(days=8))
    assert states() == ["counted"] * 4
    person = ExternalIdentity.objects.get().surrogate_id
    assert set(Ticket.objects.filter(work__isnull=False).values_list("surrogate", flat=True)) == {person}


@pytest.mark.django_db
@pytest.mark.parametrize("comes_back", [True, False])
def test_a_visit_confirmed_while_its_person_may_come_back_goes_with_them(comes_back):
    row = link(factories.antique(items=8, n=1))
    client, page = come(by_link(row, "p1", "s1"))
    statement = statement_of(work(client, page))
    work(*come(unsigned(row, "p1", "s2")))  # waits for the panel's list
    client.post(statement, {"withdraw": "yes"})
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\n")
    assert not Consent.objects.filter(withdrawn_at=None).exists()
    assert Withdrawal.objects.count() == 1
    if comes_back:
        client.post(statement, {"undo": "1"})
        assert Consent.objects.filter(withdrawn_at=None).count() == 1
    withdrawals_apply(timezone.now() + timedelta(days=8))
    assert states() == ["counted" if comes_back else "withdrawn"] * 4


@pytest.mark.django_db
def test_a_visit_with_the_ids_of_one_that_left_nothing_waits_for_a_manager():
    row = link(factories.antique(items=8, n=1))
    come(unsigned(row, "victim", "s1"))  # agreed, and did no more
    stranger, page = come(unsigned(row, "victim", "s1"))
    work(stranger, page)
    confirm(row, "PROLIFIC_PID,SESSION_ID,Status\nvictim,s1,AWAITING REVIEW\n")
    assert "counted" not in states()
    assert "/statement/" not in stranger.get(visit_of(page)).content.decode()
    assert not ExternalIdentity.objects.exists()


@pytest.mark.django_db
def test_nobody_agrees_at_a_campaign_by_the_hit_of_another(settings):
    settings.MTURK_SUBMIT_URLS, settings.MTURK_FRAME_SECRET = ["https://work.example"], "shared"
    rows = [
        workforce_add(
            campaign=factories.antique(items=4, n=1),
            kind="mturk",
            terms={"qualification": "own"},
            actor_id=None,
            now=timezone.now(),
        )
        for _ in range(2)
    ]
    Posting.objects.create(
        workforce=rows[0],
        number=1,
        places=9,
        terms=rows[0].terms,
        state="open",
        hit_id="3HIT",
        wanted_at=timezone.now(),
        touched_at=timezone.now(),
    )
    client = Client()
    page = client.get(rows[1].path, signed({"assignmentId": "3A", "hitId": "3HIT", "workerId": "AW"}), follow=True)
    answer = client.post(path(page, "agree"), {"text": text_of(page)}, follow=True)
    assert answer.status_code == 403
    assert not Consent.objects.exists() and not ExternalIdentity.objects.exists()
