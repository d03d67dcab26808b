"""Studies on Prolific: from the draft to the bonuses, with books that agree to the cent."""

import json
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import Annotation
from annotation.slots.services.sweeps import assignments_expire
from jobs.models import Job
from jobs.work import LeaseLost
from tests import factories
from tests.workforces.acts import path
from tests.workforces.link.panel import come, come_only
from tests.workforces.prolific.conftest import farewell_of
from workforces.kinds.base import DraftError
from workforces.kinds.prolific.connection import prolific
from workforces.kinds.prolific.errand_calls import ProlificSender
from workforces.kinds.prolific.study import study_publish
from workforces.kinds.registry import KINDS
from workforces.models import Errand, LedgerEntry, Ticket
from workforces.services.outbox import errand_retry
from workforces.services.pay import PayError, approvals_due, bonus_grant, committed_cents
from workforces.services.refusals import refusal_take_back, ticket_refuse
from workforces.services.terms import terms_check
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db(transaction=True)
REASON = (
    "You chose the same label for every pair, also where the guidelines say in their third example that it's wrong."
)


def counted():
    return Annotation.objects.filter(state="counted").count()


def test_from_the_draft_to_the_bonuses(desk):
    made = desk(items=4, n=1)
    made.round()
    assert made.study["status"] == "UNPUBLISHED"
    assert made.study["total_available_places"] == 2
    assert made.site.balance == 100_000
    made.publish()
    assert made.study["status"] == "ACTIVE"
    assert made.site.balance == 100_000 - 400
    first, second = made.submit("p1"), made.submit("p2")
    made.round(2)
    assert counted() == 4
    assert {made.site.subs[one]["status"] for one in (first, second)} == {"APPROVED"}
    ticket = Ticket.objects.get(remote_id=first)
    bonus_grant(ticket=ticket, cents=42, reason="Careful", actor_id=None, now=timezone.now(), token="b1")
    made.round(2)
    assert made.site.subs[first]["bonuses"] == [42]
    assert made.books() == (300, 42)
    assert LedgerEntry.objects.get(kind="bonus").fee_cents == 14
    assert made.workforce.problem == ""
    assert made.workforce.remote["study"]["taken"] == 2


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/studies/$"),
        ("POST", "/participant-groups/$"),
        ("PATCH", r"/studies/\w+/$"),
        ("POST", r"/studies/\w+/transition/"),
        ("POST", r"/submissions/\w+/transition/"),
        ("POST", "/bonus-payments/"),
        ("POST", "/pay/"),
        ("GET", "/submissions/$"),
    ],
)
@pytest.mark.parametrize("fault", ["lost", "put off", "broken"])
def test_whatever_answer_is_lost_each_thing_happens_once(desk, method, path, fault):
    if (path, fault) == ("/pay/", "broken"):
        pytest.skip("nobody knows whether it was paid: the test below")
    made = desk(items=4, n=1, cap_cents=100_000)
    if fault == "lost":
        made.site.faults.lose(method, path)
    else:
        made.site.faults.put_off(method, path, 429 if fault == "put off" else 503)
    made.round(2)
    made.publish()
    made.round(2)
    first = made.submit("p1")
    made.submit("p2")
    factories.import_rows(made.campaign, factories.pairs(2, prefix="8"))  # more work: more places
    factories.launch(made.campaign)
    made.round(3)
    assert made.study["total_available_places"] == 3
    made.submit("p3")
    made.round(3)
    bonus_grant(
        ticket=Ticket.objects.get(remote_id=first), cents=50, reason="x", actor_id=None, now=timezone.now(), token="b"
    )
    made.round(3)
    assert len(made.site.studies) == len(made.site.groups) == 1
    assert [one["status"] for one in made.site.subs.values()] == ["APPROVED"] * 3
    assert made.books() == (450, 50)
    assert not made.site.faults.lost
    assert not made.site.faults.busy
    assert committed_cents(made.workforce) == 450 + 3 * 50 + 50 + 17


def test_a_bonus_that_may_be_paid_is_never_paid_again_by_itself(desk):
    made = desk(items=2, n=1)
    made.publish()
    sub = made.submit("p1")
    made.round(2)
    bonus_grant(
        ticket=Ticket.objects.get(remote_id=sub), cents=50, reason="x", actor_id=None, now=timezone.now(), token="b"
    )
    made.site.faults.put_off("POST", "/pay/", 502)  # no effect, but nobody knows that
    made.round(3)
    errand = Errand.objects.get(kind="bonus")
    assert (errand.state, made.site.subs[sub]["bonuses"]) == ("sending", [])
    Errand.objects.filter(pk=errand.pk).update(sending_since=timezone.now() - timedelta(hours=2))
    made.round()
    errand.refresh_from_db()
    assert errand.state == "failed"
    assert "check its page before paying again" in errand.error
    boss = factories.user()
    errand_retry(errand=errand, actor_id=boss.surrogate_id, now=timezone.now())
    made.round(2)
    assert made.site.subs[sub]["bonuses"] == []
    made.site.subs[sub]["bonuses"].append(50)  # the manager pays it on Prolific's page
    errand.refresh_from_db()
    errand_retry(errand=errand, actor_id=boss.surrogate_id, now=timezone.now())
    made.round(2)
    assert made.books() == (150, 50)


def test_nothing_is_published_before_a_manager_says_so(desk):
    made = desk(items=2)
    manager = factories.user()
    with pytest.raises(DraftError, match="no draft"):
        study_publish(workforce=made.workforce, actor_id=manager.surrogate_id, now=timezone.now())
    made.round(3)
    assert made.study["status"] == "UNPUBLISHED"
    factories.join(made.campaign, manager, "manager")
    client = Client()
    client.force_login(manager)
    address = f"/campaigns/{made.campaign.slug}/recruitment/"
    page = client.get(address).content.decode()
    assert "Publish on Prolific" in page
    assert client.post(address, {"publish": made.workforce.pk}).status_code == 302
    made.round()
    assert made.study["status"] == "ACTIVE"
    assert "Publish on Prolific" not in client.get(address).content.decode()


def test_places_follow_the_work_and_a_pause_holds_people_back(desk):
    made = desk(items=4)
    made.publish()
    campaign_move(campaign=made.campaign, to="paused", actor_id=factories.user().surrogate_id, now=timezone.now())
    made.round()
    assert made.study["status"] == "PAUSED"
    made.campaign.refresh_from_db()
    campaign_move(campaign=made.campaign, to="open", actor_id=factories.user().surrogate_id, now=timezone.now())
    made.round()
    assert made.study["status"] == "ACTIVE"
    made.submit("p1")
    made.submit("p2")
    made.round(2)
    assert made.study["total_available_places"] == 2  # nothing is left to do
    assert made.study["status"] in ("PAUSED", "AWAITING REVIEW")


def test_people_at_work_are_counted_on_before_more_are_asked_for(desk):
    made = desk(items=20, items_per_ticket=10)
    made.publish()
    assert made.study["total_available_places"] == 2
    for pid in ("p1", "p2"):  # each holds one item, and the other eighteen look open
        come(made.site.reserve(made.posting.hit_id, pid).removeprefix("http://testserver"))
    made.round(3)
    assert made.study["total_available_places"] == 2
    for sub in made.site.subs.values():
        sub["status"] = "RETURNED"
    made.round()
    assignments_expire(timezone.now())
    made.round(2)
    assert made.study["total_available_places"] == 2  # their places are free again
    assert made.study["status"] == "ACTIVE"


def test_a_pause_that_a_researcher_made_on_prolific_stays(desk):
    made = desk(items=4)
    made.publish()
    made.study["status"] = "PAUSED"
    made.round(3)
    assert made.study["status"] == "PAUSED"


def test_a_closed_campaign_whose_work_is_decided_is_not_asked_about_any_more(desk):
    made = desk(items=2)
    made.publish()
    made.submit("p1")
    made.round(3)
    boss = factories.user().surrogate_id
    made.campaign.refresh_from_db()
    campaign_move(campaign=made.campaign, to="closed", actor_id=boss, now=timezone.now())
    made.round(2)
    assert made.posting.state == "settled"
    before = len(made.site.requests)
    made.round(2)
    assert len(made.site.requests) == before
    assert made.books() == (150, 0)


def test_a_study_keeps_its_terms_and_other_terms_may_change(desk):
    made = desk(items=2)
    made.round()
    for changed in ({"reward_cents": 200}, {"is_secure": False}, {"items_per_ticket": 1}):
        with pytest.raises(ValueError, match=next(iter(changed))):
            workforce_add(
                campaign=made.campaign,
                kind="prolific",
                terms={**made.workforce.terms, **changed},
                actor_id=None,
                now=timezone.now(),
            )
    terms = {**made.workforce.terms, "cap_cents": 1000}
    assert workforce_add(campaign=made.campaign, kind="prolific", terms=terms, actor_id=None, now=timezone.now()).terms[
        "cap_cents"
    ]


def test_one_submission_that_cannot_be_read_stops_no_pay(desk, site):
    made = desk(items=4)
    made.publish()
    made.submit("p1")
    site.reserve(made.posting.hit_id, "p2")
    next(one for one in site.subs.values() if one["participant"] == "p2")["started_at"] = None
    made.round(3)
    assert made.books() == (150, 0)


def test_a_draft_that_was_deleted_on_prolific_is_made_again(desk, site):
    made = desk(items=2)
    made.round()
    site.studies.clear()
    made.round(3)
    assert len(site.studies) == 1


def test_who_did_a_part_hands_it_in_and_a_manager_decides(desk):
    made = desk(items=2, items_per_ticket=2, is_secure=False)
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1")
    client, page = come(url.removeprefix("http://testserver"))
    version = re.search(r'name="version" value="(\d+)"', page.content.decode())[1]
    client.post(path(page, "answer"), {"stage": "relevance", "version": version, "label": "3"})
    made.campaign.items.exclude(annotations__isnull=False).update(state="retired")
    last = client.get(url.removeprefix("http://testserver"), follow=True)
    made.site.complete(url, farewell_of(last))
    made.round(2)
    [sub] = made.site.subs.values()
    assert sub["returns"] == []  # nobody is asked to give back what they worked for
    ticket = Ticket.objects.get()
    assert (ticket.state, "fewer items" in ticket.problem) == ("unmatched", True)


def test_a_payment_that_prolific_made_by_itself_is_entered(desk):
    made = desk(items=2)
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1")
    made.study["total_available_places"] = 2
    made.submit("p2")
    page = come(url.removeprefix("http://testserver"))[1]
    made.site.complete(url, farewell_of(page))
    made.round(2)
    next(one for one in made.site.subs.values() if one["participant"] == "p1")["status"] = "APPROVED"  # after 21 days
    made.round(2)
    assert made.books() == (300, 0)


def test_work_that_was_returned_is_never_approved(desk):
    made = desk(items=2)
    made.publish()
    sub = made.submit("p1")
    made.round()
    LedgerEntry.objects.all().delete()
    Errand.objects.filter(kind="approve").delete()
    Ticket.objects.update(state="submitted", decided_at=None)
    made.site.subs[sub]["status"] = "RETURNED"
    approvals_due(workforce=made.workforce, now=timezone.now())
    made.round(2)
    assert made.site.subs[sub]["status"] == "RETURNED"
    assert Errand.objects.get(kind="approve").state == "undone"


def test_a_worker_that_lost_the_errand_pays_nothing(desk):
    made = desk(items=2)
    made.publish()
    sub = made.submit("p1")
    made.round(2)
    errand = bonus_grant(
        ticket=Ticket.objects.get(remote_id=sub), cents=50, reason="x", actor_id=None, now=timezone.now(), token="b"
    )
    stale = Errand.objects.select_related("workforce").get(pk=errand.pk)
    Errand.objects.filter(pk=errand.pk).update(state="sending", attempts=2)  # another worker has it now
    with pytest.raises(LeaseLost):
        ProlificSender(prolific()).call(stale, is_again=False, now=timezone.now())
    assert made.site.subs[sub]["bonuses"] == []


def test_the_cap_holds_with_fees(desk):
    made = desk(items=10, cap_cents=3 * 200)
    made.publish()
    assert made.study["total_available_places"] == 3
    assert made.workforce.spent_stop
    assert committed_cents(made.workforce) == 600


def test_a_place_of_a_rejected_submission_may_cost_its_reward_again(desk):
    made = desk(items=2)
    made.publish()
    sub = made.submit("p1")
    Ticket.objects.all()
    terms = {**made.workforce.terms, "approve_after_seconds": 86_400}
    type(made.workforce).objects.update(terms=terms)
    made.round()
    ticket = Ticket.objects.get(remote_id=sub)
    boss = factories.user().surrogate_id
    with pytest.raises(PayError, match="at least 100 characters"):
        ticket_refuse(ticket=ticket, reason="Bad work", actor_id=boss, due_at=timezone.now(), now=timezone.now())
    assert ticket_refuse(ticket=ticket, reason=REASON, actor_id=boss, due_at=timezone.now(), now=timezone.now())
    made.round(2)
    assert made.site.subs[sub]["status"] == "REJECTED"
    assert Ticket.objects.get().state == "refused"
    assert committed_cents(made.workforce) == 200
    refusal_take_back_in_transaction(ticket, boss)
    made.round(2)
    assert made.site.subs[sub]["bonuses"] == [150]  # rejections are final on Prolific: it is paid as a bonus
    assert made.books() == (0, 150)


def refusal_take_back_in_transaction(ticket, boss):
    from django.db import transaction

    ticket.refresh_from_db()
    with transaction.atomic():
        refusal_take_back(ticket=ticket, reason="We were wrong.", actor_id=boss, now=timezone.now())


def test_who_returns_or_runs_out_of_time_gives_the_items_back(desk):
    made = desk(items=2)
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1")
    come(url.removeprefix("http://testserver"))
    sub = next(iter(made.site.subs.values()))
    sub["status"] = "RETURNED"
    made.round()
    assert Ticket.objects.get().state == "lapsed"
    assert assignments_expire(timezone.now()) == 1
    assert made.submit("p2")
    made.round(2)
    assert counted() == 2
    assert made.books() == (150, 0)


def test_work_finished_here_and_too_late_there_waits_for_a_manager(desk):
    made = desk(items=2)
    made.publish()
    made.visit("p1")
    next(iter(made.site.subs.values()))["status"] = "TIMED-OUT"
    made.round(2)
    ticket = Ticket.objects.get()
    assert (ticket.state, counted()) == ("unmatched", 0)
    assert "time was up" in ticket.problem


def test_work_that_is_taken_back_after_it_was_handed_in_is_not_used(desk):
    made = desk(items=2, approve_after_seconds=86_400)
    made.publish()
    sub = made.submit("p1")
    made.round()
    assert counted() == 2
    made.site.subs[sub]["status"] = "RETURNED"
    made.round()
    assert counted() == 0
    assert Ticket.objects.get().state == "refused"
    assert made.books() == (0, 0)


def test_prolific_may_approve_first(desk):
    made = desk(items=2, approve_after_seconds=86_400)
    made.publish()
    sub = made.submit("p1")
    made.site.subs[sub]["status"] = "APPROVED"
    made.round()
    assert counted() == 2
    assert made.books() == (150, 0)


def test_who_cannot_work_is_asked_to_return_and_never_rejected(desk):
    made = desk(items=2)
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1")
    made.site.studies[made.posting.hit_id]["total_available_places"] = 2
    made.submit("p2")  # all there was
    page = come(url.removeprefix("http://testserver"))[1]
    made.site.complete(url, farewell_of(page))
    made.round(2)
    sub = next(one for one in made.site.subs.values() if one["participant"] == "p1")
    assert sub["status"] == "AWAITING REVIEW"
    assert "return" in sub["returns"][0]
    assert not Errand.objects.filter(kind="reject").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"exp": 1},
        {"iss": "https://prolific.example"},
        {"aud": "https://other.example/join/x/"},
        {"sub": "0" * 24},
        {"prolific": {"PROLIFIC_PID": "someone"}},
        {"prolific": "another workspace"},
        {"prolific": None},
    ],
)
def test_a_token_that_says_something_else_lets_nobody_in(desk, change):
    made = desk()
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1")
    assert "/agree/" in come_only(url.removeprefix("http://testserver"))
    sub = parse_qs(urlsplit(url).query)["SESSION_ID"][0]
    if change.get("prolific") == "another workspace":  # of a researcher whose study leads here
        said = {"PROLIFIC_PID": "p1", "STUDY_ID": made.posting.hit_id, "SESSION_ID": sub, "workspace_id": "9" * 24}
        change = {"prolific": said}
    forged = made.site.address(sub, **change)
    page = Client().get(forged.removeprefix("http://testserver"), follow=True)
    assert page.status_code == 403 or "agree" not in page.content.decode()
    assert Ticket.objects.count() == 0


def test_a_token_of_another_key_or_none_lets_nobody_in_and_lost_keys_are_asked_for_again(desk, site):
    made = desk()
    made.publish()
    url = made.site.reserve(made.posting.hit_id, "p1").removeprefix("http://testserver")
    bare = url.partition("&prolific_token")[0]
    assert "isn&#x27;t signed" in come_only(bare)
    cache.clear()
    site.faults.put_off("GET", "jwks", 503)
    assert "can&#x27;t check your link" in come_only(url)
    assert "/agree/" in come_only(url)
    from cryptography.hazmat.primitives.asymmetric import rsa

    site.key = rsa.generate_private_key(
        public_exponent=65537, key_size=2048
    )  # signed by someone else, by the same name
    forged = site.address(parse_qs(urlsplit(url).query)["SESSION_ID"][0]).removeprefix("http://testserver")
    assert "signature doesn" in come_only(forged)


def test_without_signed_links_prolifics_list_says_whose_work_it_is(desk):
    made = desk(items=4, is_secure=False)
    made.publish()
    sub = made.submit("p1")
    assert counted() == 0
    url = made.site.reserve(made.posting.hit_id, "p2")
    come(url.removeprefix("http://testserver"))
    other = come(url.removeprefix("http://testserver"))  # another person with the same ids
    assert other
    made.round(2)
    assert counted() == 2
    assert made.site.subs[sub]["status"] == "APPROVED"
    assert Ticket.objects.filter(state="approved").count() == 1


def test_a_leaked_code_pays_nobody_who_did_no_work(desk):
    made = desk(items=4, is_secure=False)
    made.publish()
    _url, page = made.visit("p1")
    stolen = farewell_of(page)
    lazy = made.site.reserve(made.posting.hit_id, "p2")
    made.site.complete(lazy, stolen)
    made.round(2)
    ticket = Ticket.objects.get(surrogate__external__name="p2")
    assert ticket.state == "unmatched"
    assert not Errand.objects.filter(kind="approve").exists()


def test_an_account_in_another_currency_is_refused(desk, site):
    site.currency = "GBP"
    made = desk()
    made.round()
    assert "GBP" in made.workforce.problem
    assert site.studies == {}


def test_too_little_money_leaves_a_draft_and_says_so(desk, site):
    site.balance = 100
    made = desk()
    made.publish()
    assert made.study["status"] == "UNPUBLISHED"
    assert "enough funds" in made.workforce.problem
    site.balance = 100_000
    made.round()
    assert (made.study["status"], made.workforce.problem) == ("ACTIVE", "")


def test_events_are_hints_that_are_checked(desk, site, settings):
    made = desk(items=2)
    made.publish()
    site.hook_secret = settings.PROLIFIC_HOOK_SECRET = "hook"

    def post(raw, headers):
        return Client().post("/hooks/prolific/", raw, content_type="application/json", headers=headers)

    told = {"event_type": "submission.status.change", "resource_id": "x", "participant_id": "p1", "status": "APPROVED"}
    made.submit("p1")
    Job.objects.all().delete()
    assert site.event(post, told, secret="wrong").status_code == 403
    assert Job.objects.count() == 0
    for _ in range(2):  # it may come twice
        assert site.event(post, told).status_code == 200
    made.workforce.refresh_from_db()
    assert made.workforce.remote["is_told"]
    assert Job.objects.filter(kind="workforces.prolific").count() == 1
    factories.run_jobs()
    assert counted() == 2
    assert site.event(post, ["nonsense"]).status_code == 400
    settings.PROLIFIC_HOOK_SECRET = ""
    assert site.event(post, told).status_code == 404


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"reward_cents": 100, "estimated_minutes": 10}, "at least 134 cents"),
        ({"estimated_minutes": 5, "assignment_seconds": 600}, "at least 17 minutes"),
        ({"approve_after_seconds": 22 * 86_400}, "21 days"),
        ({"unsigned": "count"}, "marketplace confirms"),
        ({"title": " "}, "title"),
        ({"fee_percent": -1}, "negative"),
    ],
)
def test_terms_that_prolific_would_refuse_are_refused_here(terms, said):
    with pytest.raises(ValueError, match=said):
        terms_check("prolific", terms)


def test_prolific_is_asked_to_notify_us_and_doctor_says_what_is_wrong(site, settings, capsys):
    with pytest.raises(CommandError, match="run this without --subscribe"):
        call_command("workforce_hooks", "prolific", "--subscribe")
    call_command("workforce_hooks", "prolific")
    settings.PROLIFIC_HOOK_SECRET = capsys.readouterr().out.strip().partition("=")[2]
    assert site.hook_secret == settings.PROLIFIC_HOOK_SECRET
    with pytest.raises(CommandError, match="public https"):
        call_command("workforce_hooks", "prolific", "--subscribe")
    settings.PLATFORM_URL = "https://quorate.example"
    call_command("workforce_hooks", "prolific", "--subscribe")
    assert [one["is_enabled"] for one in site.subscriptions] == [True, True]
    assert list(KINDS["prolific"].faults()) == []
    site.balance = 0
    assert "no money left" in next(KINDS["prolific"].faults())[0]
    site.currency = "GBP"
    assert "is in GBP" in next(KINDS["prolific"].faults())[0]
    settings.PROLIFIC_TOKEN = "wrong"
    assert "refuses our requests" in next(KINDS["prolific"].faults())[0]
    settings.PROLIFIC_API_URL = "http://127.0.0.1:1"
    assert "doesn't respond" in next(KINDS["prolific"].faults())[0]
    with pytest.raises(CommandError, match="ConnectionError"):
        call_command("workforce_hooks", "prolific")


def test_a_message_reaches_the_participant_once(desk, site):
    from django.db import transaction

    from workforces.services.messages import person_message

    made = desk(items=2)
    made.publish()
    made.submit("p1")
    made.round(2)
    person = Ticket.objects.get().surrogate_id
    for _ in range(2):
        with transaction.atomic():
            person_message(campaign=made.campaign, surrogate_id=person, text="Thanks.", token="t", now=timezone.now())
    made.round(2)
    assert [json.dumps(one["body"]) for one in site.messages] == ['"Thanks."']
