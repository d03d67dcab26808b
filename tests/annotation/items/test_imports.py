"""Documents and items come in whole, once, with errors that say where."""

import json

import pytest
from django.core.management import CommandError
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.items.selectors import pilot_items
from annotation.models import Annotation, CampaignDocument, Item, Slot
from documents.models import Document
from jobs.models import Job
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_bad_page_is_listed_and_the_rest_go_on():
    campaign = factories.campaign()
    lines = "\n".join(
        json.dumps(row)
        for row in [
            {"html": "<p>one two three</p>", "title": "A"},
            {"html": ""},
            {"html": "<p>four five six</p>", "url": "http://b"},
        ]
    )
    job = factories.import_page(campaign, lines, "pages.jsonl")
    assert (job.result["imported"], job.result["failed"]) == (2, 1)
    assert job.result["errors"] == [{"where": "pages.jsonl, line 2", "error": "no word can be seen on this page"}]
    assert CampaignDocument.objects.filter(campaign=campaign).count() == 3


def test_a_damaged_gzip_file_is_an_error_with_a_sentence(tmp_path):
    import gzip

    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage

    from jobs.services import job_enqueue

    campaign = factories.campaign()
    whole = gzip.compress(b'{"id": "a", "question": "one two", "document": "harbour.html"}\n' * 2000)
    for damaged in (whole[:-40], whole[: len(whole) // 2] + b"\x00" * 40 + whole[len(whole) // 2 + 40 :], b"no gzip"):
        stored = default_storage.save("damaged", ContentFile(damaged))
        job = job_enqueue(
            kind="annotation.import_items",
            scope_id=campaign.pk,
            now=timezone.now(),
            payload={
                "campaign": str(campaign.pk),
                "file": stored,
                "name": "rows.jsonl.gz",
                "pilot": False,
                "good_rows_only": True,
            },
        )
        factories.run_jobs()
        job.refresh_from_db()
        assert (job.state, "damaged or cut short" in job.error) == ("failed", True), job.error


def test_an_upload_is_deleted_when_it_was_imported():
    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage

    from jobs.services import job_enqueue

    campaign = factories.campaign()
    row = b'{"id": "a", "question": "one two three", "document": "harbour.html"}\n'
    stored = default_storage.save("rows", ContentFile(row))
    job = job_enqueue(
        kind="annotation.import_items",
        scope_id=campaign.pk,
        now=timezone.now(),
        payload={
            "campaign": str(campaign.pk),
            "file": stored,
            "name": "rows.jsonl",
            "pilot": False,
            "good_rows_only": False,
        },
    )
    factories.run_jobs()
    job.refresh_from_db()
    assert (job.state, job.result["imported"]) == ("done", 1)
    assert not default_storage.exists(stored)


def test_the_same_page_is_stored_once():
    factories.campaign(), factories.campaign()
    assert Document.objects.count() == 1


def test_wrong_rows_are_all_named_and_nothing_is_imported():
    campaign = factories.campaign()
    rows = [
        {"id": "a", "question": "first question", "document": "harbour.html"},
        {"id": "b", "question": "first question", "document": "harbour.html"},
        {"id": "c", "question": "second question", "document": "nowhere.html"},
        {"id": "a", "question": "third question", "document": "harbour.html"},
        {"question": "fourth question", "document": "harbour.html"},
        {"id": "e", "document": "harbour.html"},
    ]
    with pytest.raises(CommandError, match="5 of 6 rows are wrong, so nothing was imported"):
        factories.import_rows(campaign, rows)
    errors = Job.objects.order_by("-created_at").first().result["errors"]
    assert [(error["row"], error["column"]) for error in errors] == [
        (2, "question_text"),
        (3, "document"),
        (4, "external_id"),
        (5, "external_id"),
        (6, "question_text"),
    ]
    assert not Item.objects.exists()
    job = factories.import_rows(campaign, rows, good_rows_only=True)
    assert (job.result["imported"], job.result["failed"]) == (1, 5)


def test_importing_again_changes_nothing_and_another_question_under_an_id_is_refused():
    campaign = factories.campaign(items=3)
    before = list(Item.objects.order_by("pk").values())
    rows = [
        {"id": f"q{index}", "question": f"question {index} about the harbour", "document": "harbour.html"}
        for index in range(3)
    ]
    assert factories.import_rows(campaign, rows).result["unchanged"] == 3
    assert list(Item.objects.order_by("pk").values()) == before
    with pytest.raises(CommandError, match="with another question"):
        factories.import_rows(campaign, [{**rows[0], "question": "something else"}])
    with pytest.raises(CommandError, match="already item q0"):
        factories.import_rows(campaign, [{**rows[0], "id": "q9"}])


def test_rows_find_their_page_by_name_title_or_address():
    campaign = factories.campaign()
    factories.import_page(
        campaign, json.dumps({"html": "<p>one two three</p>", "title": "Pier", "url": "http://pier"}), "p.jsonl"
    )
    rows = [
        {"id": str(index), "question": f"question {index}", "document": name}
        for index, name in enumerate(["Harbour", "Pier", "http://pier"])
    ]
    assert factories.import_rows(campaign, rows).result["imported"] == 3


def test_published_ids_are_kept_where_a_row_has_one():
    campaign = factories.campaign()
    factories.import_rows(
        campaign, [{"example_id": "-1368633715963532113", "question_text": "a question", "page": "harbour.html"}]
    )
    assert Item.objects.get().published_id == "-1368633715963532113"


def test_items_of_one_document_stay_in_one_split():
    campaign = factories.campaign(splits=[NewSplit("a", 1), NewSplit("b", 1)], group_by="document")
    factories.import_questions(campaign, [f"question {index}" for index in range(20)])
    assert len(set(Item.objects.values_list("split__name", flat=True))) == 1


def test_launching_twice_adds_nothing():
    campaign = factories.campaign(n=2, items=5)
    assert Slot.objects.count() == 10
    assert factories.launch(campaign) == 0
    assert Slot.objects.count() == 10


def test_a_pilot_stays_out_of_the_numbers_and_shows_where_people_differ(now):
    campaign = factories.campaign()
    factories.import_questions(campaign, ["one question", "another question"], pilot=True, people=2)
    factories.launch(campaign)
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    for _ in range(2):
        factories.annotate(campaign, first, box=0)
    agreed = factories.annotate(campaign, second, box=0).item
    factories.annotate(campaign, second, box=1)
    shown = pilot_items(campaign)
    assert [item.pk for item, _ in shown["differing"]] == [Item.objects.exclude(pk=agreed.pk).get().pk]
    assert shown["agreeing"] == 1
    assert numbers_refresh(campaign=campaign, now=now)["annotations"] == 0
    assert Annotation.objects.filter(state="counted").count() == 4


def test_numbers_follow_the_paths_of_the_paper(now):
    campaign = factories.campaign(n=1, items=4)
    person = factories.annotator(campaign)
    for chosen in ({"label": "bad"}, {"box": -1}, {"box": 0}, {"box": 0, "kind": "yes"}):
        factories.annotate(campaign, person, **chosen)
    data = numbers_refresh(campaign=campaign, now=now)
    assert data["paths"] == {"bad_question": 1, "no_answer": 1, "long_only": 1, "yes_no": 1}
    assert data["slots"] == {"filled": 4}
    assert [row["counted"] for row in data["people"]] == [4]


QUESTION = "why is rain wet, really?"
PAIRS = [("901", QUESTION, "901_0", 'because; it is "water"'), ("901", QUESTION, "901_1", "never mind")]


def pairs_of(campaign):
    names = ("question_id", "question_text", "answer_id", "answer_text")
    return [tuple(item.content[name] for name in names) for item in campaign.items.order_by("pk")]


def import_file(tmp_path, name, content, *options):
    """Import a file by the command; return the campaign of pairs, and what was said beside the result."""
    from io import StringIO

    from django.core.management import call_command

    campaign = factories.antique(items=0)
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = StringIO()
    call_command("import_items", str(path), "--campaign", campaign.slug, *options, stdout=StringIO(), stderr=said)
    return campaign, said.getvalue()


def csv_of(header, delimiter=",", end="\r\n"):
    lines = [header, *(delimiter.join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in PAIRS)]
    return end.join([*lines, ""])


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("semi.csv", "\ufeff" + csv_of("question_id;question;answer_id;answer", ";"), []),
        ("utf16.csv", csv_of("question_id,question,answer_id,answer").encode("utf-16"), []),
        ("caps.csv", csv_of("Question_ID,Question,Answer_ID ,answer"), []),
        ("sep.csv", "sep=|\n" + csv_of("question_id|question|answer_id|answer", "|", "\n"), []),
        ("latin.csv", csv_of("question_id,question,answer_id,answer").encode("gb18030"), ["--encoding", "gb18030"]),
    ],
)
def test_items_of_any_usual_table_are_read(tmp_path, name, content, options):
    campaign, said = import_file(tmp_path, name, content, *options)
    assert pairs_of(campaign) == PAIRS
    assert "not used" not in said


@pytest.mark.parametrize(
    "answers",
    [
        ['"trunk mains are thicker', 'ours is 12"', "as a door"],
        ['"it is reggae', "music", 'an "echo"', 'sound systems call it "dub"', "older"],
    ],
)
def test_in_tsv_a_quotation_mark_swallows_no_item(tmp_path, answers):
    lines = [
        "question_id\tanswer_id\tquestion\tanswer",
        *(f"91\t91_{n}\thow thick\t{text}" for n, text in enumerate(answers)),
    ]
    campaign, _ = import_file(tmp_path, "inch.tsv", "\n".join(lines))
    assert [answer for *_, answer in pairs_of(campaign)] == answers


def test_a_doubled_column_is_refused_by_name(tmp_path):
    with pytest.raises(CommandError, match=r"dupcol\.csv, line 1: the column 'answer' stands twice"):
        import_file(tmp_path, "dupcol.csv", csv_of("question_id,question,answer_id,answer,Answer"))
    assert not Item.objects.filter(batch__purpose="work").exists()


def test_what_a_table_holds_besides_is_said_once(tmp_path):
    table = 'question_id,question,answer_id,answer,mood,id\n1,q one,1_0,a one,fine,\n\n1,q one,1_1,"a, two\nlines",,\n'
    campaign, said = import_file(tmp_path, "x.csv", table)
    assert campaign.items.count() == 2
    notes = Job.objects.filter(kind="annotation.import_items").latest("created_at").result["notes"]
    assert notes[0] == "empty rows passed over: 1"
    assert "begins in line 4" in notes[1]
    assert notes[2] == "not used: columns mood, id"
    assert all(note in said for note in notes)


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_items_of_workbooks_and_parquet_are_read(tmp_path, kind):
    import pandas as pd

    table = pd.DataFrame(PAIRS, columns=["Question ID", "question", "answer_id", "answer"])
    table["Question ID"] = table["Question ID"].astype(int)
    path = tmp_path / f"made.{kind}"
    table.to_excel(path, index=False) if kind == "xlsx" else table.to_parquet(path)
    assert pairs_of(import_file(tmp_path, f"x.{kind}", path.read_bytes())[0]) == PAIRS


def test_a_manager_is_found_by_their_address_in_any_case():
    from io import StringIO

    from django.core.management import call_command

    from accounts.models import Membership

    manager = factories.user("Mira")
    call_command(
        "create_campaign", "c", "--title", "C", "--split", "dev 1", "--manager", "mira@Example.ORG", stdout=StringIO()
    )
    assert Membership.objects.filter(user=manager, role="manager").exists()
