"""A panel's list confirms who its people were: what counts then, what does not, and what a manager has to decide."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ExternalIdentity
from annotation.models import Annotation, Participation, Slot
from annotation.people.services.withdrawal import withdrawals_apply
from jobs.models import Job
from tests import factories
from tests.workforces.acts import by_link
from tests.workforces.link.panel import come, come_only, confirm, link, states, unsigned, work
from workforces.kinds.link.lists import CONFIRM_LIST
from workforces.models import Ticket
from workforces.services.confirmations import ticket_accept
from workforces.services.statements import statement_path
from workforces.services.tickets import tickets_lapse

pytestmark = pytest.mark.django_db


def test_the_panels_list_lets_work_count_under_one_person():
    row = link(factories.antique(items=4, n=1))
    for visit in ("s1", "s2"):
        work(*come(unsigned(row, "p1", visit)))
    work(*come(unsigned(row, "cheat", "s3")))
    assert set(states()) == {"provisional"}
    page = confirm(
        row, "Participant id,Submission id,Status\np1,s1,AWAITING REVIEW\np1,s2,APPROVED\ncheat,s3,RETURNED\n"
    )
    assert "2 visits confirmed" in page
    assert states() == ["counted"] * 4
    person = ExternalIdentity.objects.get()
    assert (person.name, Annotation.objects.filter(surrogate=person.surrogate_id).count()) == ("p1", 4)
    assert Participation.objects.get(surrogate=person.surrogate_id).submitted == 4
    assert set(Ticket.objects.filter(state="submitted").values_list("surrogate", flat=True)) == {person.surrogate_id}
    assert "0 visits confirmed" in confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")  # reading it again changes nothing


def test_an_item_annotated_in_two_visits_of_one_person_counts_once():
    campaign = factories.antique(items=2, n=2)
    row = link(campaign)
    for visit in ("s1", "s2"):
        work(*come(unsigned(row, "p1", visit)))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\np1,s2\n")
    assert states() == ["counted", "counted", "given_up", "given_up"]
    assert Slot.objects.filter(state="open").count() == 2
    person = ExternalIdentity.objects.get().surrogate_id
    assert Participation.objects.get(surrogate=person).submitted == 2


def test_a_visit_that_no_list_confirms_is_given_up_and_its_slots_reopen():
    row = link(factories.antique(items=2, n=1))
    work(*come(unsigned(row, "p1", "s1")))
    now = timezone.now()
    Ticket.objects.update(opened_at=now - timedelta(days=15), answered_at=now - timedelta(days=13))
    assert tickets_lapse(workforce=row, now=now) == 0
    assert tickets_lapse(workforce=row, now=now + timedelta(days=2)) == 1
    assert states() == ["given_up", "given_up"]
    assert Slot.objects.filter(state="open").count() == 2
    assert "1 visits confirmed" in confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")  # a list that comes late
    assert states() == ["counted", "counted"]


def test_two_visits_with_the_same_ids_are_for_a_manager_to_decide():
    """The quicker one is not believed: both claim to be the one that the panel lists."""
    row = link(factories.antique(items=8, n=1))
    for _ in range(2):
        work(*come(unsigned(row, "p1", "s1")))
    page = confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    assert "0 visits confirmed, 1 claimed by several people" in page
    assert states() == ["given_up"] * 4
    assert set(Ticket.objects.values_list("state", "problem")) == {
        ("unmatched", "Several visits came with the same IDs")
    }
    assert not ExternalIdentity.objects.exists()
    boss = factories.user(is_admin=True)
    client = Client()
    client.force_login(boss)
    decisions = client.get(f"/campaigns/{row.campaign.slug}/review/").content.decode()
    assert decisions.count("Several visits came with the same IDs") == 2
    real = Ticket.objects.order_by("-pk")[0]
    assert ticket_accept(ticket=real, actor_id=boss.surrogate_id, now=timezone.now())
    assert states() == ["counted", "counted", "given_up", "given_up"]
    assert ExternalIdentity.objects.get().surrogate_id == Ticket.objects.get(pk=real.pk).surrogate_id


def test_a_list_in_which_nothing_can_be_read_is_an_error(tmp_path):
    row = link(factories.antique(items=1))
    (tmp_path / "x.csv").write_text("nonsense\n1\n")
    with pytest.raises(CommandError, match="no visits were confirmed"):
        call_command("confirm_visits", row.campaign.slug, str(tmp_path / "x.csv"))


@pytest.mark.parametrize("header", ["participant_id;session_id", "prolific_pid;Submission ID", "Participant ID;Visit"])
def test_a_panels_names_of_columns_are_understood_in_any_case(header):
    row = link(factories.antique(items=1, n=1))
    work(*come(unsigned(row, "p1", "s1")))
    assert "1 visits confirmed" in confirm(row, f"{header}\np1;s1\n")


def test_what_was_passed_over_in_a_list_is_told_and_its_encoding_taken(tmp_path):
    row = link(factories.antique(items=1, n=1))
    work(*come(unsigned(row, "小明", "s1")))
    (tmp_path / "x.csv").write_bytes("participant_id;session_id;说明\n小明;s1;好\n;;\n".encode("gb18030"))
    said = StringIO()
    call_command(
        "confirm_visits", row.campaign.slug, str(tmp_path / "x.csv"), "--encoding", "gb18030", stdout=said, stderr=said
    )
    assert "1 visits confirmed" in said.getvalue() and "x.csv: empty rows passed over: 1" in said.getvalue()


def test_a_list_without_people_is_told_which_column_is_missing():
    row = link(factories.antique(items=1, n=1))
    confirm(row, "Worker,Session_ID\np1,s1\n")
    [error] = Job.objects.filter(kind=CONFIRM_LIST).latest("created_at").result["errors"]
    assert "the person is missing: expected a column PROLIFIC_PID or participant_id or prolific_pid" in error["error"]
    assert "there are worker, session_id" in error["error"]


def test_a_list_of_thousands_that_were_never_here_costs_a_look_a_piece(django_assert_max_num_queries):
    row = link(factories.antique(items=2, n=1))
    work(*come(unsigned(row, "p1", "s1")))
    with django_assert_max_num_queries(150):
        page = confirm(row, "PROLIFIC_PID,SESSION_ID\n" + "x,y\n" * 3_000 + "p1,s1\n" * 500)
    assert "1 visits confirmed, 0 claimed by several people (see Review queue), 3000 unknown" in page


def test_an_empty_cell_of_the_approval_list_is_empty():
    row = link(factories.antique(items=2))
    come(unsigned(row, "p1", "s1"))
    client = Client()
    client.force_login(factories.user(is_admin=True))
    answer = client.get(f"/campaigns/{row.campaign.slug}/recruitment/{row.pk}/approvals.csv")
    assert b"".join(answer.streaming_content).splitlines()[1] == b"p1,s1,open,0,"


def test_a_visit_that_is_confirmed_after_its_person_withdrew_is_withdrawn_too():
    row = link(factories.antique(items=6, n=1))
    work(*come(by_link(row, "p1", "s1")))
    work(*come(unsigned(row, "p1", "s2")))
    Client().post(statement_path(Ticket.objects.get(is_signed=True)), {"withdraw": "yes"})
    withdrawals_apply(timezone.now() + timedelta(days=7, hours=1))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\n")
    assert states() == ["withdrawn"] * 4
    person = ExternalIdentity.objects.get().surrogate_id
    assert not Annotation.objects.filter(surrogate=person).exists()
    assert "/agree/" in come_only(by_link(row, "p1", "s3"))


def test_a_second_visit_that_a_manager_accepts_counts_for_the_same_person():
    row = link(factories.antique(items=8, n=1))
    for _ in range(2):
        work(*come(unsigned(row, "p1", "s1")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    boss = factories.user()
    for ticket in Ticket.objects.order_by("pk"):
        assert ticket_accept(ticket=ticket, actor_id=boss.surrogate_id, now=timezone.now())
    assert states() == ["counted"] * 4
    assert set(Annotation.objects.values_list("surrogate", flat=True)) == {ExternalIdentity.objects.get().surrogate_id}


@pytest.mark.django_db
def test_a_manager_refuses_a_doubtful_visit_of_a_panel():
    row = link(factories.antique(items=8, n=1))
    for _ in range(2):
        work(*come(unsigned(row, "p1", "s1"), Client()))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    doubtful = Ticket.objects.filter(state="unmatched").order_by("pk")[0]
    client = Client()
    client.force_login(factories.user(is_admin=True))
    address = f"/campaigns/{row.campaign.slug}/review/ticket/{doubtful.pk}/"
    client.post(address, {"choice": "refuse", "reason": "copied"})
    doubtful.refresh_from_db()
    assert doubtful.state == "refused"
    work_of = Annotation.objects.filter(ticket_work__ticket=doubtful)
    assert set(work_of.values_list("state", flat=True)) == {"given_up"}
    assert not row.errands.exists()
    listed = b"".join(
        client.get(f"/campaigns/{row.campaign.slug}/recruitment/{row.pk}/approvals.csv").streaming_content
    )
    assert sorted(line.split(b",")[2] for line in listed.splitlines()[1:]) == [b"undecided"]
