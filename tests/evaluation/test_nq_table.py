"""`evaluate nq` on the tables of a release: the numbers of its shards, without reading them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from evaluation.nq.gold import GoldFault, read_gold
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]

ANSWERS = ({"box": 0, "kind": "yes"}, {"box": 0}, {"box": 1, "kind": "no"}, {"label": "bad"})


@pytest.fixture
def released(tmp_path):
    """Return the folder of a release of four items and three annotations each, in two shards."""
    campaign = factories.campaign(n=3, items=4)
    for number in range(3):
        person = factories.annotator(campaign)
        for item in range(4):
            factories.annotate(campaign, person, **ANSWERS[(number * item + item) % 4])
    folder = tmp_path / "release"
    call_command(
        "release", campaign.slug, "--format", "nq-original", "--ways", "3", "--to", str(folder), "--shards", "2"
    )
    return folder


def test_the_tables_of_a_release_say_what_its_shards_say(released):
    of_shards = read_gold(released.glob("nq-dev-*.jsonl.gz"))
    assert sum(one.has_short for annotations in of_shards.values() for one in annotations)
    assert read_gold(released.glob("tables/annotations-*.parquet")) == of_shards
    assert len(of_shards) == 4


def test_the_folder_of_a_release_is_scored_by_its_tables(released, tmp_path, capsys):
    gold = read_gold(released.glob("nq-dev-*.jsonl.gz"))
    names = ("start_byte", "end_byte", "start_token", "end_token")
    said = [
        {
            "example_id": key,
            "long_answer": dict(zip(names, rows[0].long or (-1,) * 4, strict=True)),
            "long_answer_score": float(number),
            "short_answers": [],
            "short_answers_score": 0.5,
            "yes_no_answer": rows[0].yes_no,
        }
        for number, (key, rows) in enumerate(sorted(gold.items()))
    ]
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps({"predictions": said}))
    reports = []
    for source in (released, released / "nq-dev-*.jsonl.gz", released / "tables/annotations-dev-*.parquet"):
        call_command("evaluate", "nq", "--gold", str(source), "--predictions", str(predictions), "--json")
        reports.append(capsys.readouterr().out)
    assert len(set(reports)) == 1
    assert json.loads(reports[0])["metrics"]["long-best-threshold-f1"] > 0


def test_a_folder_whose_writer_was_stopped_is_not_scored(released, tmp_path):
    (released / "SHA256SUMS").unlink()
    with pytest.raises(CommandError, match="release is incomplete"):
        call_command("evaluate", "nq", "--gold", str(released), "--predictions", str(tmp_path / "p.json"))


def test_what_is_no_table_of_annotations_is_said(released, tmp_path):
    with pytest.raises(GoldFault, match=r"items\.parquet: isn't a table of annotations: .*long_start_byte"):
        read_gold([released / "tables/items.parquet"])
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes((released / "tables/annotations-dev-00.parquet").read_bytes()[:-20])
    with pytest.raises(GoldFault, match=r"damaged\.parquet: isn't a table of annotations"):
        read_gold([damaged])
    with pytest.raises(CommandError, match=r"has no tables/annotations-\*\.parquet"):
        call_command("evaluate", "nq", "--gold", str(tmp_path), "--predictions", str(damaged))


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("item_id", "a", "row 1: item_id: expected a whole number"),
        ("item_id", None, "row 1: item_id: expected a whole number"),
        ("long_end_token", 0, "row 1: long answer: starts at token"),
        ("short_answers", "[[1, 2]]", "row 1: "),
        ("short_answers", "[[7, 3, 1, 2]]", r"row 1: short_answers\[0\]: starts at byte 7"),
        ("short_answers", "nothing", "row 1: "),
        ("short_answers", "7", "row 1: "),
        ("short_answers", " " * 30_000, "row 1: short_answers: longer than"),
        ("yes_no_answer", None, "row 1: "),
        ("yes_no_answer", "MAYBE", "row 1: yes_no_answer: expected YES, NO or NONE"),
    ],
)
def test_what_is_wrong_in_a_table_is_said_by_row(released, tmp_path, column, value, said):
    table = pq.read_table(released / "tables/annotations-dev-00.parquet")
    rows = [row for row in table.to_pylist() if row["long_start_byte"] >= 0][:1]
    rows[0][column] = value
    wrong = tmp_path / "wrong.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), wrong)
    with pytest.raises(GoldFault, match=said):
        read_gold([wrong])


def test_an_example_in_two_tables_is_refused(released):
    table = released / "tables/annotations-dev-00.parquet"
    again = released / "tables/annotations-dev-09.parquet"
    again.write_bytes(table.read_bytes())
    with pytest.raises(GoldFault, match="stands in these files twice"):
        read_gold([table, again])
