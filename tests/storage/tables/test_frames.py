"""One reader: whatever pandas, the csv module or openpyxl wrote comes back, whole or row by row."""

import csv
import gzip
import io

import openpyxl
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage.tables.frames import TableFault, read_frame
from storage.tables.reading import Reading
from storage.tables.rows import parse_rows

CELL = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "3",
            "3.0",
            "03",
            "３",
            "-1",
            "NA",
            "nan",
            "null",
            "None",
            "true",
            " x ",
            'a "b"',
            '"q',
            '"q"',
            "é",
            "e\u0301",
            "中文",
            "🙂",
            "\ufeff",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=8),
)
NAMES = ["item", "Worker", "Question ID", "标签", "label"]


@st.composite
def tables(draw, cell=CELL):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True))
    rows = draw(st.lists(st.lists(cell, min_size=len(names), max_size=len(names)), max_size=6))
    return pd.DataFrame(rows, columns=names, dtype=str)


def plain(text):
    return not set("\n\t") & set(text)


def expected(table):
    """Return the rows that hold anything."""
    kept = table[table.apply(lambda column: column.str.strip() != "").any(axis=1)] if len(table) else table
    names = ["_".join(name.lower().split()) for name in kept.columns]
    return [dict(zip(names, row, strict=True)) for row in kept.itertuples(index=False, name=None)]


def both_ways(path, encoding=None):
    frame, whole = read_frame(path, encoding=encoding)
    reading = Reading()
    rows = list(parse_rows(io.BytesIO(path.read_bytes()), path.name, reading, encoding=encoding))
    assert [number for number, _ in rows] == list(frame.index)
    assert [row for _, row in rows] == frame.to_dict("records")
    assert (whole.rows, whole.blank) == (reading.rows, reading.blank)
    return [row for _, row in rows]


@example(pd.DataFrame({"item": ["\ufeff"], "label": ["3"]}), False, ",", "\n", "utf-8", csv.QUOTE_MINIMAL)
@given(
    table=tables(),
    by_pandas=st.booleans(),
    delimiter=st.sampled_from(",;|\t"),
    ends=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_csv_comes_back(tmp_path_factory, table, by_pandas, delimiter, ends, encoding, quoting):
    path = tmp_path_factory.mktemp("t") / "x.csv"
    if by_pandas:
        table.to_csv(path, index=False, sep=delimiter, lineterminator=ends, encoding=encoding, quoting=quoting)
    else:
        with path.open("w", newline="", encoding=encoding) as file:
            writer = csv.writer(file, delimiter=delimiter, lineterminator=ends, quoting=quoting)
            writer.writerows([table.columns, *table.itertuples(index=False, name=None)])
    assert both_ways(path, "gb18030" if encoding == "gb18030" else None) == expected(table)


@given(table=tables(CELL.filter(plain)), ends=st.sampled_from(["\n", "\r\n"]), packed=st.booleans())
def test_tsv_comes_back(tmp_path_factory, table, ends, packed):
    path = tmp_path_factory.mktemp("t") / ("x.tsv.gz" if packed else "x.tsv")
    lines = ["\t".join(row) for row in [table.columns, *table.itertuples(index=False, name=None)]]
    raw = "".join(line + ends for line in lines).encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    assert both_ways(path) == expected(table)


def legal(text):
    return all(sign.isprintable() for sign in text) and not text.startswith("=")


@given(table=tables(CELL.filter(legal)))
def test_workbooks_parquet_and_json_lines_come_back(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("t")
    book = openpyxl.Workbook()
    for row in [list(table.columns), *table.itertuples(index=False, name=None)]:
        book.active.append(row)
    book.save(folder / "x.xlsx")
    table.to_parquet(folder / "x.parquet")
    assert both_ways(folder / "x.xlsx") == expected(table)
    assert [row for row in both_ways(folder / "x.parquet") if any(text.strip() for text in row.values())] == expected(
        table
    )
    table.columns = ["_".join(name.lower().split()) for name in table.columns]
    table.to_json(folder / "x.jsonl", orient="records", lines=True, force_ascii=False)
    kept = [row for row in both_ways(folder / "x.jsonl") if any(text.strip() for text in row.values())]
    assert kept == expected(table)


def test_numbers_of_a_workbook_are_text_and_long_ones_are_warned_of(tmp_path):
    book = openpyxl.Workbook()
    for row in [
        ["id", "label", "day", "sure"],
        [17, 3.0, pd.Timestamp("2026-01-02"), True],
        [None, None, None, None],
        [1234567890123456789, 0, None, False],
    ]:
        book.active.append(row)
    book.create_sheet("more")
    book.save(tmp_path / "x.xlsx")
    frame, reading = read_frame(tmp_path / "x.xlsx")
    assert frame.loc[2].to_dict() == {"id": "17", "label": "3", "day": "2026-01-02T00:00:00", "sure": "true"}
    assert frame.loc[4, ["label", "sure"]].tolist() == ["0", "false"]
    assert reading.blank == 1
    assert "of 2 sheets only the first, 'Sheet', is read" in reading.notes[0]
    assert "16 digits or more" in reading.notes[1]


def test_lists_and_records_of_parquet_stay_what_they_are(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"Id": [7], "accepted": [[3, 4]], "at": [pd.Timestamp("2026-01-02")]}).to_parquet(path)
    [(_, row)] = parse_rows(io.BytesIO(path.read_bytes()), path.name)
    assert row == {"id": "7", "accepted": [3, 4], "at": "2026-01-02T00:00:00"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"item,label\na,1\nb\n", "x.csv, line 3: the header has 2 columns, this row 1"),
        ("x.csv", b"item,label\na,1\nb,2,3\n", "x.csv, line 3: the header has 2 columns, this row 3"),
        ("x.csv", b"item,label\na,1\nb\nc,2,3\n", "x.csv, line 3: the header has 2 columns, this row 1"),
        ("x.csv", b"item,label\na,\xff\n", "x.csv, line 2: not valid UTF-8"),
        ("x.csv", b'item,label\na,"1\n', "x.csv, line 2: a quotation mark"),
        ("x.txt", b"item,label\n", "x.txt: expected .jsonl"),
        ("x.xlsx", b"item,label\n", "x.xlsx: isn't a workbook"),
        ("x.parquet", b"item,label\n", "x.parquet: isn't a Parquet file"),
        ("x.csv.gz", b"item,label\n", "x.csv.gz: the gzip file is damaged"),
        ("x.jsonl", b'{"item": "a"}\n[1]\n', "x.jsonl, line 2: not a JSON object"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableFault) as caught:
        read_frame(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_blank_lines_leave_the_numbers_of_the_others(tmp_path):
    (tmp_path / "x.csv").write_text("item,label\na,1\n\n,\nb,2\n\n")
    assert both_ways(tmp_path / "x.csv") == [{"item": "a", "label": "1"}, {"item": "b", "label": "2"}]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TableFault, match=r"x\.csv: .*No such file"):
        read_frame(tmp_path / "x.csv")
