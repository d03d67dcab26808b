"""Commands that read what others wrote take no more memory than they are allowed."""

import gzip
import os
import resource
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import get_commands, load_command_class

from documents.management.reading import ReadingCommand
from documents.memory import OutOfMemory, memory_limited
from exports.released.parquet import ParquetFault, rows_of
from perf.peak import run as run_and_count


def run(*command):
    """Run a command in a process of its own, which must refuse; return what it says and its peak in MiB."""
    ran = run_and_count(*command, environment={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test"})
    assert ran.status == 1, ran.said
    return ran.said, ran.peak


@pytest.mark.parametrize(
    "name", ["evaluate", "release_verify", "release_diff", "release_revote", "validate_nq", "crowd_report"]
)
def test_commands_that_read_what_others_wrote_are_limited(name):
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, ReadingCommand)
    assert command.create_parser("manage.py", name).get_default("memory") == 2


def test_a_limit_ends_with_its_block():
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(OutOfMemory, match="more than 40 GiB of memory"), memory_limited(40):
        raise MemoryError
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.slow
def test_an_honest_file_that_takes_more_than_is_allowed_is_refused_with_the_way_out(tmp_path):
    """Half a million pairs of real questions are far below the usual limit."""
    (tmp_path / "labels.csv").write_text("item,worker,label\n" + "".join(f"a,{n},{n % 5}\n" for n in range(400_000)))
    said, peak = run("manage.py", "crowd_report", tmp_path / "labels.csv", "--memory", "0.3")
    assert "more than 0.3 GiB of memory" in said
    assert "--memory" in said
    assert peak < 500
    (tmp_path / "gold").write_text("".join(f"<answer id={n}>\t{n} | {n}a\n" for n in range(400_000)))
    said, peak = run(
        "evaluation", "--memory", "0.3", "kbqa", "--gold", tmp_path / "gold", "--predictions", tmp_path / "gold"
    )
    assert "more than 0.3 GiB of memory" in said
    assert peak < 450


def varint(number, length=0):
    """Return a number as Thrift's compact protocol writes it, of at least so many bytes."""
    out, number = bytearray(), 2 * number
    while number > 127 or len(out) < length - 1:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def forge(path, honest, lie, times=-1):
    """Write something else into the footer of a Parquet file, of the same length."""
    content = path.read_bytes()
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length : -8]
    assert honest in footer
    path.write_bytes(content[: -8 - length] + footer.replace(honest, lie, times) + content[-8:])


def lying(path, texts):
    """Write a table of annotations of long texts, whose footer says that they are short."""
    table = pa.table(
        {"item_id": [str(n) for n in range(len(texts))], "short_answers": texts}
        | {
            f"long_{name}": pa.array([-1] * len(texts))
            for name in ("start_byte", "end_byte", "start_token", "end_token")
        }
        | {"yes_no_answer": ["NONE"] * len(texts)}
    )
    pq.write_table(table, path, compression="zstd", row_group_size=len(texts))
    honest = varint(pq.read_metadata(path).row_group(0).total_byte_size)
    forge(path, honest, varint(100, len(honest)))
    assert pq.read_metadata(path).row_group(0).total_byte_size == 100


def test_more_rows_than_a_file_says_are_no_rows(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"item_id": pa.array(["1"] * 12_345)}), path)
    forge(path, varint(12_345), varint(10, 3), times=1)
    assert pq.read_metadata(path).num_rows == 10
    with pytest.raises(ParquetFault, match="holds more rows than the 10 that it says"):
        list(rows_of(path, ["item_id"]))


@pytest.mark.slow
def test_a_footer_that_lies_costs_no_more_than_the_limit(tmp_path):
    lying(tmp_path / "annotations.parquet", ["x" * 2_000_000 + str(n) for n in range(100)])
    assert (tmp_path / "annotations.parquet").stat().st_size < 2**20
    (tmp_path / "predictions.json").write_text('{"predictions": []}')
    said, peak = run(
        "evaluation",
        "--memory",
        "0.25",
        "nq",
        "--gold",
        tmp_path / "annotations.parquet",
        "--predictions",
        tmp_path / "predictions.json",
    )
    assert "more than 0.25 GiB of memory" in said
    assert peak < 450


@pytest.mark.slow
@pytest.mark.parametrize("values", ["[],", '{"a":0},', "[[[[]]]],"])
def test_a_line_of_countless_values_is_refused_unread(tmp_path, values):
    line = '{"annotations":[{"a":1}],"example_id":1,"more":[' + values * (100_000_000 // len(values)) + "0]}\n"
    noise = os.urandom(600_000).hex()
    with gzip.open(tmp_path / "gold.jsonl.gz", "wt") as file:
        file.write(line.replace('"more"', f'"noise":"{noise}","more"'))
    (tmp_path / "predictions.json").write_text('{"predictions": []}')
    gold = tmp_path / "gold.jsonl.gz"
    said, peak = run("evaluation", "nq", "--gold", gold, "--predictions", tmp_path / "predictions.json")
    assert "line 1: line: it holds more values than" in said
    assert peak < 600
    said, peak = run("manage.py", "validate_nq", gold)
    assert "line 1 holds more values than" in said
    assert peak < 600
