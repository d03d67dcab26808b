"""Rows of Parquet are those that Arrow itself would give."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.released import parquet
from exports.released.parquet import ParquetFault, rows_of

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
            "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
            "number": st.none() | st.floats(allow_nan=False),
            "is_so": st.none() | st.booleans(),
            "id": st.sampled_from(["a", "b", "ü"]),
            "place": st.integers(-1, 9),
            "score": st.floats(0, 1),
        }
    ),
    max_size=30,
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "is_so": pa.bool_(),
        "id": pa.string(),
        "place": pa.int64(),
        "score": pa.float64(),
    }
)


@given(ROWS)
def test_rows_are_those_of_arrow(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, row_group_size=7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "BATCH", 4)
        assert list(rows_of(path, SCHEMA.names)) == [tuple(row[name] for name in SCHEMA.names) for row in rows]


@pytest.mark.slow
def test_many_long_texts_are_refused_before_they_are_made(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": ["x" * 2**18] * 2_000 + ["y" * 2**18]}), path)
    with pytest.raises(ParquetFault, match="bytes of text"):
        list(rows_of(path, ["text"]))


def test_few_long_texts_are_read(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": ["x" * 2**18, *["y"] * 1_999]}), path)
    assert [len(text) for (text,) in rows_of(path, ["text"])] == [2**18, *[1] * 1_999]


@pytest.mark.parametrize("indices", [[-1], [0, -100_000_000, 1], [0, None, -3], [2], [None, 2]])
def test_an_index_of_no_text_reads_no_memory(indices):
    texts = pa.array(["a", "b"])
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), texts, safe=False)
    with pytest.raises((ParquetFault, IndexError)):  # `rows_of` says the second as the first
        parquet._values(column)


def test_a_long_dictionary_costs_no_more_than_what_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": [f"text {n}" for n in range(50_000)]}), path, dictionary_pagesize_limit=2**24)
    assert [text for (text,) in rows_of(path, ["text"])] == [f"text {n}" for n in range(50_000)]


def test_a_column_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"]), path)
    with pytest.raises(ParquetFault, match="has more than one column text"):
        list(rows_of(path, ["text"]))
