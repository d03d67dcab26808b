"""The tables of managers' pages: order, paging, columns, files, ticks; and the four pages that stand on them."""

import codecs
import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.models import Annotation, CampaignState, ItemState, Participation, Standing
from console.audit_words import ACTS
from jobs.models import Job, JobState
from quality.models import Case, CaseState, ReviewState
from quality.people.services.manager_acts import ManagerAct
from tests import factories
from tests.conftest import ROOT
from web import tables
from web.tables import BulkAct, Cell, Column, ListRows, QueryRows, Table
from workforces.models import AppealState

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def jobs_table(**options):
    columns = [
        Column("id", "Id", lambda job: Cell(job.message, is_code=True)),
        Column("at", "At", lambda job: job.created_at, order="created_at"),
        Column("done", "Done", lambda job: job.done, order="done", is_number=True, is_extra=True),
    ]
    return Table(QueryRows(Job.objects.all()), columns, **options)


@pytest.fixture
def some_jobs(monkeypatch):
    """Seven jobs of which several began at the same moment; pages of three."""
    monkeypatch.setattr(tables, "PAGE_SIZE", 3)
    monkeypatch.setattr(tables, "CSV_ROWS", 2)
    for number in range(7):
        at = NOW + timedelta(days=number // 3)
        Job.objects.create(kind="k", lane="bulk", message=f"job {number}", due_at=NOW, created_at=at, done=number)


def test_counted_rows_are_reached_by_the_number_of_their_page(some_jobs, monkeypatch):
    def place(asked, sort="done"):
        page = table.page(QueryDict(f"sort={sort}&{asked}"))
        return [cells[0][1].shown for _key, cells in page.rows], page.place

    table = jobs_table()
    assert table.page(QueryDict("page=2")).place is None  # not counted: by keys alone
    table = Table(QueryRows(Job.objects.all(), is_counted=True), table.columns)
    for asked, first in {"": 0, "page=2": 3, "page=3": 6, "page=0": 0, "page=-1": 0, "page=x": 0}.items():
        names, found = place(asked)
        assert names == [f"job {number}" for number in range(first, min(first + 3, 7))], asked
        assert (found.first, found.last, found.total, found.pages) == (first + 1, min(first + 3, 7), 7, 3)
    names, found = place("page=99")
    assert (names, found.first, found.total, found.pages) == ([], 0, 7, 3)
    assert place("page=2", sort="-done")[0] == ["job 3", "job 2", "job 1"]
    assert place(f"page=2&after={Job.objects.get(done=4).pk}") == (["job 5", "job 6"], None)
    monkeypatch.setattr(tables, "MOST_COUNTED", 4)
    names, found = place("page=1")
    assert (found.total, found.is_capped, found.pages) == (4, True, 2)
    assert place("page=9")[0] == ["job 3", "job 4", "job 5"]  # the last page that is counted


def walk(table, sort=""):
    """Return the messages of all pages, one after another."""
    found, after = [], ""
    for _ in range(10):
        page = table.page(QueryDict(f"sort={sort}&after={after}"))
        found += [cells[0][1].shown for _key, cells in page.rows]
        after = page.after
        if not after:
            return found
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("sort", ["at", "-at", "done", "-done", "", "nonsense"])
def test_pages_show_each_row_once_and_in_order(some_jobs, sort):
    found = walk(jobs_table(), sort)
    assert sorted(found) == [f"job {number}" for number in range(7)]
    numbers = [int(text[-1]) for text in found]
    if "done" in sort:
        assert numbers == sorted(numbers, reverse=sort.startswith("-"))
    if "at" in sort:
        days = [number // 3 for number in numbers]
        assert days == sorted(days, reverse=sort.startswith("-"))


def test_a_file_holds_all_rows_and_columns_in_the_order_asked_for(some_jobs):
    lines = list(csv.reader(io.StringIO("".join(jobs_table().csv(QueryDict("sort=-done&columns=id"))))))
    assert lines[0] == ["id", "at", "done"]
    assert [line[2] for line in lines[1:]] == list("6543210")
    assert lines[1][1] == "2026-01-03T00:00:00+00:00"


def test_a_page_goes_on_from_the_first_row_where_the_last_is_gone_or_never_was(some_jobs):
    for after in ("nonsense", "9" * 60, "00000000-0000-0000-0000-000000000000"):
        page = jobs_table().page(QueryDict(f"sort=done&after={after}"))
        assert page.rows[0][1][0][1].shown == "job 0"


def test_columns_are_chosen_and_the_head_says_how_they_are_sorted(some_jobs):
    page = jobs_table(sort="-at").page(QueryDict())
    assert [(head.column.key, head.sorted, head.press) for head in page.heads] == [
        ("id", "none", "id"),
        ("at", "descending", "at"),
    ]
    page = jobs_table().page(QueryDict("columns=done&columns=unheard&sort=done"))
    assert [(head.column.key, head.sorted, head.press) for head in page.heads] == [("done", "ascending", "-done")]
    assert [(column.key, shown) for column, shown in page.columns] == [("id", False), ("at", False), ("done", True)]


def test_only_rows_of_the_table_can_be_ticked(some_jobs):
    inside, outside = Job.objects.filter(done__lt=2), Job.objects.get(done=6)
    table = Table(QueryRows(inside), [Column("id", "Id", str)])
    posted = QueryDict(mutable=True)
    posted.setlist("row", [str(inside[0].pk), str(outside.pk), "nonsense"])
    assert table.ticked(posted) == [inside[0]]


def test_a_list_is_sorted_and_paged_like_a_query(monkeypatch):
    monkeypatch.setattr(tables, "PAGE_SIZE", 2)
    rows = [{"key": name, "n": n} for name, n in [("a", 2), ("b", 1), ("c", 2), ("d", 0)]]
    table = Table(ListRows(rows, "key"), [Column("name", "Name", lambda r: r["key"]), Column("n", "N", str, order="n")])
    assert walk(table, "n") == ["d", "b", "a", "c"]
    assert walk(table, "-n") == ["c", "a", "b", "d"]
    assert table.ticked(QueryDict("row=b&row=z")) == [rows[1]]
    assert table.page(QueryDict(), [BulkAct("x", "X", "It happens.")]).acts[0].key == "x"


def test_a_file_is_no_formula():
    assert Cell("=1+1").plain == "'=1+1"
    assert Cell(-3).plain == "-3"
    assert Cell(None).plain == ""


# The pages


@pytest.fixture
def managed():
    """A campaign with two answered items of three, a manager and two annotators."""
    campaign = factories.campaign(n=2, items=3)
    manager, people = factories.user(), [factories.annotator(campaign) for _ in range(2)]
    factories.join(campaign, manager, Role.MANAGER)
    for person in people:
        factories.annotate(campaign, person)
        factories.annotate(campaign, person)
    client = Client()
    client.force_login(manager)
    return campaign, client, people


def test_items_are_sorted_by_their_name_saved_and_retired_together(managed):
    campaign, client, _people = managed
    base = f"/campaigns/{campaign.slug}/items/"
    names = sorted(campaign.items.values_list("external_id", flat=True))
    page = client.get(base + "?sort=-id").content.decode()
    assert [page.index(f">{name}</a>") for name in names] == sorted(
        (page.index(f">{name}</a>") for name in names), reverse=True
    )
    file = client.get(base + "?format=csv&sort=id")
    content = b"".join(file.streaming_content)
    assert content.startswith(codecs.BOM_UTF8)  # Excel reads Chinese text then
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert [row["id"] for row in rows] == names
    assert max(row["annotations"] for row in rows) == "2 of 2"
    keys = list(campaign.items.values_list("pk", flat=True)[:2])
    answer = client.post(base + "selected/?sort=id", {"row": keys, "act": "retire", "reason-retire": "too long"})
    assert answer.url == base + "?sort=id"
    assert set(campaign.items.filter(state=ItemState.RETIRED).values_list("pk", "retired_reason")) == {
        (key, "too long") for key in keys
    }
    assert "None of the selected" in client.post(base + "selected/", {}, follow=True).content.decode()


def test_items_are_sent_to_the_experts_together():
    campaign = factories.campaign(n=1, items=3)
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.annotate(campaign, person)
    pks = list(campaign.items.order_by("pk").values_list("pk", flat=True))
    page = client.post(
        f"/campaigns/{campaign.slug}/items/selected/?state=active", {"row": pks, "act": "ask"}, follow=True
    ).content.decode()
    answered = set(Annotation.objects.values_list("item", flat=True))
    assert set(Case.objects.values_list("item", "because")) == {(pk, "manager") for pk in answered}
    assert "2 items sent to the experts." in page
    assert "any answers for experts to judge" in page  # of the third


def test_a_researcher_sees_items_but_can_retire_none(managed):
    campaign, _client, _people = managed
    person, client = factories.user(), Client()
    factories.join(campaign, person, Role.RESEARCHER)
    client.force_login(person)
    page = client.get(f"/campaigns/{campaign.slug}/items/").content.decode()
    assert "reason-retire" not in page
    assert (
        client.post(f"/campaigns/{campaign.slug}/items/selected/", {"row": campaign.items.first().pk}).status_code
        == 404
    )


def test_items_can_be_narrowed_to_those_whose_answers_differ():
    campaign = factories.campaign(n=2, items=2)
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    odd = factories.annotate(campaign, factories.annotator(campaign), label="bad")
    other = factories.annotator(campaign)
    for answer in (factories.annotate(campaign, other), factories.annotate(campaign, other)):
        if answer.item_id != odd.item_id:
            factories.annotate(campaign, factories.annotator(campaign), box=0)  # an item on which both agree, or waits
    page = client.get(f"/campaigns/{campaign.slug}/items/?differs=on").content.decode()
    assert f">{odd.item.external_id}</a>" in page
    assert page.count('name="row"') == 1


def test_people_are_sorted_and_several_are_warned_at_once(managed):
    campaign, client, people = managed
    base = f"/campaigns/{campaign.slug}/annotators/"
    client.get(base)
    factories.run_jobs()
    page = client.get(base + "?sort=-submitted").content.decode()
    assert 'aria-sort="descending"' in page
    assert all(person.name in page for person in people)
    ids = [str(person.surrogate_id) for person in people]
    page = client.post(base, {"row": ids, "act": "warn"}, follow=True).content.decode()
    assert "Not applied to 2 of them: Give a reason" in page
    page = client.post(
        base, {"row": ids, "act": "warn", "reason-warn": "read the guidelines"}, follow=True
    ).content.decode()
    assert "Action applied to 2 annotators" in page
    assert set(Participation.objects.filter(campaign=campaign).values_list("standing", flat=True)) == {Standing.WARNED}
    page = client.post(base, {"row": ids, "act": "suspend", "reason-suspend": "no"}, follow=True).content.decode()
    assert "Select annotators first" in page  # that asks for a page of its own, which says what it costs


def test_the_log_says_who_did_what_and_why_but_not_what_experts_said(managed):
    campaign, client, people = managed
    event = {"scope_id": campaign.pk, "at": timezone.now(), "subject": "case:1"}
    AuditEvent.objects.create(
        action="item_retire", actor_id=people[0].surrogate_id, data={"reason": "a broken page"}, **event
    )
    AuditEvent.objects.create(action="opinion_give", actor_id=None, data={"label": "the secret label"}, **event)
    page = client.get(f"/campaigns/{campaign.slug}/activity/").content.decode()
    assert "a broken page" in page
    assert people[0].name in page
    assert re.search(r"<td>\s*An expert judged a case\s*</td>", page)  # in the table, not in the filter alone
    assert "the secret label" not in page
    narrowed = client.get(f"/campaigns/{campaign.slug}/activity/?act=item_retire").content.decode()
    assert narrowed.count("<tr>") == 2  # the head and one event
    file = client.get(f"/campaigns/{campaign.slug}/activity/?format=csv")
    assert b"the secret label" not in b"".join(file.streaming_content)


def test_failed_jobs_that_are_ticked_are_tried_again(managed):
    campaign, client, _people = managed
    kept = {"lane": "bulk", "scope_id": campaign.pk, "due_at": timezone.now(), "created_at": timezone.now()}
    failed = Job.objects.create(kind="annotation.numbers", state=JobState.FAILED, error="The disk was full.", **kept)
    done = Job.objects.create(kind="annotation.numbers", state=JobState.DONE, **kept)
    other = Job.objects.create(
        kind="annotation.numbers", state=JobState.FAILED, **{**kept, "scope_id": factories.campaign().pk}
    )
    base = f"/campaigns/{campaign.slug}/jobs/"
    assert "The disk was full." in client.get(base + "?state=failed").content.decode()
    page = client.post(base + "retry/", {"row": [failed.pk, done.pk, other.pk]}, follow=True).content.decode()
    assert "1 job will be retried." in page
    assert dict(Job.objects.filter(pk__in=[failed.pk, done.pk, other.pk]).values_list("pk", "state")) == {
        failed.pk: JobState.QUEUED,
        done.pk: JobState.DONE,
        other.pk: JobState.FAILED,
    }


def test_every_act_in_the_audit_trail_of_a_campaign_has_words():
    source = "".join(
        path.read_text()
        for app in ("annotation", "workforces", "quality", "exports")
        for path in (ROOT / app).rglob("*.py")
    )
    named = set(re.findall(r'\baction = ?"(\w+)" if \w+ else "(\w+)"', source))
    recorded = {name for pair in named for name in pair}
    recorded |= set(re.findall(r'record\(\s*action="(\w+)"', source))
    states = {
        "appeal": [AppealState.GRANTED, AppealState.DENIED],
        "campaign": list(CampaignState),
        "case": list(CaseState),
        "person": list(ManagerAct),
        "review": list(ReviewState),
        "standing": list(Standing),
    }
    assert set(re.findall(r'action=f"(\w+)_\{\w+\}"', source)) == set(states)
    recorded |= {f"{what}_{state}" for what, names in states.items() for state in names}
    assert len(recorded) > 60
    assert recorded - set(ACTS) == set()
