"""Folders and files that others made to fill memories, to hide something, or to lead outside; and names that do."""

import gzip
import hashlib
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.campaigns.services.campaigns import NewSplit
from annotation.models import Campaign
from evaluation.nq.gold import GoldFault, read_gold
from exports.released.folder import FolderError, ReleasedFolder
from exports.released.verify import problems
from exports.targets import FolderTarget, OutsideTarget, StorageTarget
from perf.peak import run
from tests import factories
from tests.exports.test_tables import lines, release

pytestmark = pytest.mark.on_sqlite


@pytest.fixture
def folder(judged, tmp_path):
    return release(judged, tmp_path / "folder")


def renew(folder):
    """Write the sums of the files as they are now, as a forger would."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name, file in manifest["files"].items():
        file["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names if name != "SHA256SUMS"}
    (folder / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


def write(folder, key, rows):
    with gzip.open(folder / f"tables/{key}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    renew(folder)


def found(folder):
    return dict(problems(ReleasedFolder(folder)))


@pytest.mark.django_db
def test_a_parquet_file_that_says_something_else_is_told(folder):
    path = folder / "tables/labels.parquet"
    table = pq.read_table(path)
    column = table.column_names.index("label")
    pq.write_table(table.set_column(column, table.field(column), pa.array([1] * len(table))), path)
    renew(folder)
    assert "is not that of the JSON lines" in found(folder)["tables/labels.parquet"]
    pq.write_table(table.slice(1), path)
    renew(folder)
    assert found(folder)["tables/labels.parquet"] == "row 1 is not that of the JSON lines"
    pq.write_table(table.slice(0, len(table) - 1), path)
    renew(folder)
    assert found(folder)["tables/labels.parquet"] == f"row {len(table)} is not that of the JSON lines"
    pq.write_table(table.drop_columns(["label"]), path)
    renew(folder)
    assert found(folder)["tables/labels.parquet"] == "its columns are not those of the manifest"
    path.write_bytes(os.urandom(4000))
    renew(folder)
    assert found(folder)["tables/labels.parquet"].startswith("can't be read")


@pytest.mark.django_db
def test_an_item_with_two_labels_is_told(folder):
    rows = lines(folder, "labels")
    write(folder, "labels", [*rows[:-1], rows[0]])
    assert found(folder)["tables/labels.jsonl.gz"] == f"line {len(rows)}: item_id: this item was there before"


@pytest.mark.django_db
def test_links_and_pipes_are_no_part_of_a_release(folder, tmp_path):
    outside = tmp_path / "outside"
    (folder / "README.md").rename(outside)
    (folder / "README.md").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    assert found(folder) == {"README.md": "is a link or lies behind one", "pipe": "isn't part of the release"}
    (folder / "tables").rename(tmp_path / "elsewhere")
    (folder / "tables").symlink_to(tmp_path / "elsewhere")
    assert found(folder)["tables/labels.parquet"] == "is a link or lies behind one"
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(FolderError, match="isn't a file"):
        ReleasedFolder(folder)


def test_a_pipe_among_the_tables_of_annotations_keeps_nobody_waiting(tmp_path):
    (tmp_path / "tables").mkdir()
    os.mkfifo(tmp_path / "tables/annotations-dev-00.parquet")
    (tmp_path / "SHA256SUMS").touch()
    with pytest.raises(CommandError, match="not everything like"):
        call_command("evaluate", "nq", gold=[str(tmp_path)], predictions=tmp_path / "SHA256SUMS")


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["labels", "judgments"])
def test_a_table_that_is_a_pipe_keeps_nobody_waiting(folder, key):
    (folder / f"tables/{key}.jsonl.gz").unlink()
    os.mkfifo(folder / f"tables/{key}.jsonl.gz")
    with pytest.raises(CommandError, match="isn't a file"):
        call_command("release_revote", str(folder), "--policy", "all")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.pop("state"), "columns are not those of the manifest"),
        (lambda row: row.update(round="1"), "round: expected integer"),
        (lambda row: row.update(label=[4]), "label: expected integer"),
    ],
)
def test_rows_of_another_form_are_an_error_with_a_line(folder, change, said):
    rows = lines(folder, "judgments")
    change(rows[1])
    write(folder, "judgments", rows)
    with pytest.raises(CommandError, match=rf"judgments\.jsonl\.gz: line 2: .*{said}"):
        call_command("release_revote", str(folder), "--policy", "all")


@pytest.mark.django_db
def test_signs_that_move_a_cursor_are_printed_as_text(folder, tmp_path, capsys):
    rows = [{**row, "item_id": "\x1b[2J\t" + row["item_id"]} for row in lines(folder, "labels")]
    write(folder, "labels", rows)
    capsys.readouterr()
    call_command("release_diff", str(release(Campaign.objects.get(), tmp_path / "second")), str(folder))
    assert "\\x1b[2J\\t" in (out := capsys.readouterr().out)
    assert "\x1b" not in out


@pytest.mark.parametrize(
    "manifest",
    [
        {"files": []},
        {"files": {"a": 1}},
        {"files": {}, "tables": {"a": {}}},
        {"files": {}, "tables": {"../a": {"columns": []}}},
    ],
)
def test_what_is_no_manifest_is_said(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FolderError, match="isn't a release manifest"):
        ReleasedFolder(tmp_path)


def limited(*command):
    """Run a command that refuses its files; return what it says and its peak in MiB."""
    ran = run("manage.py", *command, environment={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test"})
    assert ran.status == 1, ran.said
    return ran.said, ran.peak


def blanks(path, megabytes, sign=b" "):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(sign * 2**20)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_line_of_blanks_fills_no_memory(folder, tmp_path):
    """600 MB of blanks in half a megabyte: each command says so, in a fraction of that."""
    blanks(folder / "tables/labels.jsonl.gz", 600)
    renew(folder)
    (tmp_path / "predictions.json").write_text('{"predictions": []}')
    for command in (
        ("release_verify", folder),
        ("release_diff", folder, folder),
        ("release_revote", folder, "--policy", "all"),
        ("evaluate", "nq", "--gold", folder / "tables/labels.jsonl.gz", "--predictions", tmp_path / "predictions.json"),
    ):
        said, peak = limited(*command)
        assert "times its size" in said or "longer than" in said, command
        assert peak < 700, command


@pytest.mark.django_db
def test_large_sums_and_manifests_are_refused_unread(folder):
    for name in ("SHA256SUMS", "manifest.json"):
        with (folder / name).open("r+b") as file:
            file.truncate(2**31)  # takes no place on the disk
        with pytest.raises(FolderError, match=f"{name}: is larger than"):
            list(problems(ReleasedFolder(folder)))


@pytest.mark.slow
def test_newlines_and_tables_that_unpack_to_more_than_data_does_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("storage.lines.RATIO_FREE_BYTES", 2**20)  # of 64 times as many lines, reading takes a minute
    blanks(tmp_path / "gold.jsonl.gz", 4, b"\n")
    with pytest.raises(GoldFault, match="times its size"):
        read_gold([tmp_path / "gold.jsonl.gz"])
    many = 3_000_000
    texts = {"item_id": "1", "short_answers": "[]", "yes_no_answer": "NONE"}
    columns = {
        name: pa.array([-1] * many)
        for name in ("long_start_byte", "long_end_byte", "long_start_token", "long_end_token")
    }
    table = pa.table(columns | {name: pa.array([text] * many) for name, text in texts.items()})
    pq.write_table(table, tmp_path / "annotations.parquet", compression="zstd")
    assert (tmp_path / "annotations.parquet").stat().st_size < 100_000
    with pytest.raises(GoldFault, match="times its size"):
        read_gold([tmp_path / "annotations.parquet"])


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(("rows", "length"), [(20_000, 60_000), (3_000, 200_000)])
def test_one_text_that_stands_for_many_is_refused_before_it_fills_the_memory(folder, tmp_path, rows, length):
    """A text is stored once however many rows have it: a file of kilobytes holds gigabytes."""
    columns = {
        name: pa.array([-1] * rows)
        for name in ("long_start_byte", "long_end_byte", "long_start_token", "long_end_token")
    }
    texts = {
        "item_id": map(str, range(rows)),
        "short_answers": ["[" + " " * length + "]"] * rows,
        "yes_no_answer": ["NONE"] * rows,
    }
    packed = pa.table(
        columns
        | {
            name: pa.array(list(values)).dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string()))
            for name, values in texts.items()
        }
    )
    path = tmp_path / "annotations.parquet"
    pq.write_table(packed, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 500_000
    with pytest.raises(GoldFault, match=r"bytes of text in|longer than"):
        read_gold([path])
    label = pq.read_table(folder / "tables/labels.parquet").slice(0, 1).to_pylist()[0]
    schema = pq.read_schema(folder / "tables/labels.parquet")
    many = {name: pa.array([value] * rows, schema.field(name).type) for name, value in label.items()}
    many["item_id"] = pa.array(["x" * length] * rows)
    pq.write_table(pa.table(many), folder / "tables/labels.parquet", compression="zstd")
    renew(folder)
    assert found(folder)["tables/labels.parquet"].startswith("holds more than" if length > 130_000 else "row 1 is not")


@pytest.mark.django_db
def test_a_column_in_a_column_is_no_table(folder):
    path = folder / "tables/labels.parquet"
    table = pq.read_table(path)
    nested = table.set_column(0, table.column_names[0], pa.array([[1]] * len(table)))
    pq.write_table(nested, path)
    renew(folder)
    assert "of a kind that no table has" in found(folder)["tables/labels.parquet"]


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/a", "..", "a\\..\\b", ""])
def test_no_name_leads_out_of_the_folder_of_a_release(tmp_path, name):
    (tmp_path / "part").write_text("text")
    for target in (FolderTarget(tmp_path / "out"), StorageTarget("1/0001")):
        with pytest.raises(OutsideTarget):
            target.put(name, tmp_path / "part")
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "part").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["../../esc", "a/b", "..", ".hidden", "a\\b", "x:y", "<b>", "/abs", "训练", "a" * 31])
def test_the_name_of_a_split_is_one_of_a_file(name):
    with pytest.raises(ValueError, match="The split"):
        factories.campaign(splits=[NewSplit(name, 1)])
    with pytest.raises(CommandError, match="The split"):
        call_command("create_campaign", "names", "--title", "Names", "--split", f"{name} 1")
    client = Client()
    client.force_login(factories.user(is_admin=True))
    sent = {
        "title": "Names",
        "task_type": "antique",
        "splits": f"{name} 1 1",
        "purpose": "p",
        "recorded": "r",
        "contact": "c",
    }
    assert "name becomes part of file names" in client.post("/campaigns/new/", sent).content.decode()
    assert not Campaign.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["../x", "a/b", "a'b", "new", ""])
def test_a_short_name_stands_in_addresses(slug):
    with pytest.raises(CommandError, match="The short name"):
        call_command("create_campaign", slug, "--title", "Names", "--split", "dev 1")
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_what_people_wrote_stays_one_line_of_the_card_without_html(judged, tmp_path):
    Campaign.objects.update(title="Two\nlines \x1b[31m<script>", content_warning="Storms\n# Heading")
    folder = release(judged, tmp_path, "--license", "yes", "--author", "Agnes")
    card = (folder / "README.md").read_text()
    assert "\n# Two lines \\[31m&lt;script&gt;\n" in card
    assert "Content warning: Storms # Heading\n" in card
    assert '\nlicense: "yes"\n' in card
    assert '\nlicense: "yes"\n' in (folder / "CITATION.cff").read_text()
