"""A test set of ANTIQUE as it was made: questions, runs, a pool, three judgments a pair, released qrels."""

import gzip
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Role
from annotation.campaigns.services.campaigns import NewSplit
from annotation.models import Item
from tests import factories
from tests.sources.files import lines, record, rows, step

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
THINGS = ["bread", "harbour", "laptop", "garden", "violin", "bicycle", "window", "candle", "river", "mountain"]


@pytest.fixture
def pooled(tmp_path):
    """Return the folder of a pool of 20 questions, from BM25 and a run that returns answers to other questions."""
    questions = [
        record(
            f"{100 + n}",
            f"how do I clean an old {THINGS[n % 10]} of type {n}",
            (f"Wash the {THINGS[n % 10]} {n}.", f"Leave it, says {n}.", f"Sell it for {n} coins."),
            best=n % 3,
        )
        for n in range(20)
    ]
    file = lines(tmp_path / "nfL6.jsonl", [*questions, record("999", "why"), record("998", questions[0]["question"])])
    step("questions", file, "--seed", 5, "--to", tmp_path / "questions")
    texts = [f"{row['id']}_{n}\t{text}" for row in questions for n, text in enumerate(row["nbestanswers"])]
    collection = lines(tmp_path / "collection.tsv", texts)
    given = ["--questions", tmp_path / "questions" / "kept.jsonl", "--collection", collection]
    kept = [row["id"] for row in rows(tmp_path / "questions" / "kept.jsonl")]
    assert len(kept) == 20
    step("bm25", *given, "--depth", 5, "--seed", 0, "--to", tmp_path / "bm25")
    other = [f"{key} Q0 {100 + (n * 7) % 20}_1 1 {1 / (n + 1)} other" for n, key in enumerate(kept)]
    lines(tmp_path / "other.txt", other)
    step(
        "pool",
        *given,
        "--run",
        tmp_path / "bm25" / "run.txt",
        "--run",
        tmp_path / "other.txt",
        "--depth",
        3,
        "--seed",
        6,
        "--to",
        tmp_path / "pool",
    )
    return tmp_path / "pool"


def test_a_pooled_test_set_goes_from_runs_to_qrels(pooled, tmp_path):
    pairs = rows(pooled / "pairs.jsonl")
    campaign = factories.antique(items=0, splits=[NewSplit("test", 3)])
    factories.import_rows(campaign, pairs)
    assert factories.import_rows(campaign, pairs).result["unchanged"] == len(pairs)  # again changes nothing
    factories.launch(campaign)
    for person in [factories.annotator(campaign) for _ in range(3)]:
        for _ in pairs:
            held = factories.claim(campaign, person)
            factories.submit(factories.label(held, 1 + held.item_id % 4))
    factories.examine(campaign)
    call_command("release", campaign.slug, "--format", "antique", "--to", str(tmp_path / "out"))
    qrel = [line.split() for line in (tmp_path / "out" / "antique-test.qrel").read_text().splitlines()]
    label = {item.external_id: str(1 + item.pk % 4) for item in Item.objects.filter(campaign=campaign)}
    judged = {(q, answer, value) for q, iteration, answer, value in qrel if iteration == "Q0"}
    assert judged == {
        (row["question_id"], row["answer_id"], label[f"{row['question_id']} {row['answer_id']}"]) for row in pairs
    }
    best = {(q, answer) for q, iteration, answer, value in qrel if iteration == "U0" and value == "4"}
    assert best == {(row["question_id"], row["possibly_correct_id"]) for row in pairs}
    assert any(q != answer.split("_")[0] for q, answer, _ in judged)  # a pool crosses questions
    _leads_back(tmp_path, tmp_path / "out", pairs)


def _leads_back(files, released, pairs):
    """From each released item to the line that it came from, and from there to the item."""
    items = [json.loads(line) for line in gzip.open(released / "tables" / "items.jsonl.gz")]
    assert len(items) == len(pairs)
    source = (files / "nfL6.jsonl").read_text().splitlines()
    steps = {json.loads((files / name / "report.json").read_text())["run"]: name for name in ("questions", "pool")}
    run = {line.split()[0]: line.split()[2] for line in (files / "other.txt").read_text().splitlines()}
    for item in items:
        origin = json.loads(item["origin"])
        question_id, answer_id = item["external_id"].split(" ")
        assert steps[origin["step"]] == "pool" and steps[origin["question"]["step"]] == "questions"
        assert json.loads(source[origin["question"]["row"] - 1])["id"] == question_id
        assert (origin["runs"].get("other") == 1) == (run[question_id] == answer_id)
    assert {json.loads(item["origin"])["question"]["row"] for item in items} <= set(range(1, 23))


def test_the_page_of_an_item_says_where_it_comes_from_and_no_annotator_sees_it(pooled):
    campaign = factories.antique(items=0, n=1)
    factories.import_rows(campaign, rows(pooled / "pairs.jsonl")[:3])
    factories.launch(campaign)
    manager, person = factories.user(), factories.annotator(campaign)
    factories.join(campaign, manager, Role.MANAGER)
    client = Client()
    client.force_login(manager)
    item = campaign.items.order_by("pk").first()
    page = client.get(f"/campaigns/{campaign.slug}/items/{item.pk}/").content.decode()
    assert "Source" in page and json.loads(item.origin)["step"] in page
    client.force_login(person)
    shown = client.post(f"/work/{campaign.slug}/", follow=True).content.decode()
    items = list(campaign.items.all())
    assert any(one.content["question_text"] in shown for one in items)
    assert not any(json.loads(one.origin)["step"] in shown for one in items)


def test_an_origin_of_any_kind_is_kept_and_none_is_unknown():
    campaign = factories.antique(items=0, n=1)
    origins = ["a line of text", {"b": 1.50, "a": [10**30, "ü"]}, "", None]
    given = [{**row, "origin": origin} for row, origin in zip(factories.pairs(4), origins, strict=True)]
    factories.import_rows(campaign, given)
    kept = list(campaign.items.order_by("pk").values_list("origin", flat=True))
    assert kept == ['"a line of text"', f'{{"a": [{10**30}, "ü"], "b": 1.5}}', "", ""]


@pytest.mark.parametrize(
    ("origin", "said"),
    [("x" * 10_000, "longer than 10,000 signs"), ({"a": float("nan")}, "holds NaN or an infinite number")],
)
def test_an_origin_that_cannot_be_kept_is_an_error_of_its_row(origin, said):
    campaign = factories.antique(items=0, n=1)
    with pytest.raises(CommandError, match=f"row 1, origin: {said}"):
        factories.import_rows(campaign, [{**factories.pairs(1)[0], "origin": origin}])
