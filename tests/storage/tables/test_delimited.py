"""Tables as spreadsheets, scripts and annotation tools write them."""

import io

import pytest

from storage.tables.faults import RowError
from storage.tables.reading import Reading
from storage.tables.rows import parse_rows, read_rows

TEXT = 'Question_ID,Question,Answer_ID ,answer\r\n901,"why is rain wet, really?",901_0,"because; it is ""water"""\r\n'
ROW = {
    "question_id": "901",
    "question": "why is rain wet, really?",
    "answer_id": "901_0",
    "answer": 'because; it is "water"',
}


def read(content, name="x.csv", **options):
    reading = Reading()
    raw = content if isinstance(content, bytes) else content.encode()
    return list(parse_rows(io.BytesIO(raw), name, reading, **options)), reading


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (TEXT, {}),
        (TEXT.encode("utf-8-sig"), {}),
        (TEXT.encode("utf-16"), {}),
        (TEXT.encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (TEXT.replace(",", ";").replace("wet;", "wet,").replace("because,", "because;"), {}),
        ("sep=|\r\n" + TEXT.replace(",", "|").replace("wet|", "wet,"), {}),
        ("\r\n" + TEXT.replace(",", "\t").replace("wet\t", "wet,"), {}),
    ],
)
def test_delimiter_encoding_and_header_are_found(content, options):
    [(number, row)], _ = read(content, **options)
    assert (row, number) == (ROW, 3 if content[:1] in ("s", "\r") else 2)


def test_in_tsv_a_quote_is_a_character():
    rows, reading = read('id\tanswer\n1\t"thicker\n2\tours is 12"\n3\tan "echo"\n', "x.tsv")
    assert [row["answer"] for _, row in rows] == ['"thicker', 'ours is 12"', 'an "echo"']
    assert (reading.rows, reading.notes) == (3, [])


def test_a_cell_that_may_have_swallowed_rows_is_named_where_it_begins():
    content = 'id,answer\n1,plain\n2,"thicker\n3,ours is 12"\n4,"two\nlines"\n'
    rows, reading = read(content)
    assert [number for number, _ in rows] == [2, 3, 5]
    [note] = reading.notes
    assert "1 rows have a quoted cell with a line break and a delimiter" in note and "begins in line 3" in note


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,answer,Answer\n1,a,b\n", "x.csv, line 1: the column 'answer' stands twice"),
        ('id,answer\n1,a\n2,"open\n3,c\n', "x.csv, line 3: a quotation mark that begins a cell here is closed nowhere"),
        ('id,answer\n1,"a"b\n', "x.csv, line 2: text follows the closing quotation mark"),
        ("id,answer\n1,a\rb\n", "x.csv, line 2: a carriage return stands in a cell"),
        (",".join(f"c{n}" for n in range(300_000)) + "\n", "x.csv, line 1: 300,000 columns; a table may have 10,000"),
        ("a,a\n1,2\n", "the column 'a' stands twice"),
        ("id,answer\r1,a\r2,b\r", "x.csv: lines end in a carriage return alone"),
        ("id,frage\n1,warum ist das Öl so zäh und schön kühl, für wen?\n".encode("cp1252"), "line 2: not valid UTF-8"),
        (
            "编号,问题\n1,为什么雨是湿的？因为那是水。\n".encode("gb18030"),
            "line 1: .*looks like gb18030.*--encoding gb18030",
        ),
    ],
)
def test_what_breaks_the_whole_file_is_said_with_its_line(content, message):
    with pytest.raises(ValueError, match=message):
        read(content)
    with pytest.raises(ValueError, match=message):
        list(read_rows(io.BytesIO(content if isinstance(content, bytes) else content.encode()), "x.csv"))


def test_chinese_files_of_windows_are_read_by_name_of_their_encoding():
    [(_, row)], _ = read("编号,问题\n1,为什么雨是湿的？\n".encode("gbk"), encoding="gb18030")
    assert row == {"编号": "1", "问题": "为什么雨是湿的？"}
    with pytest.raises(ValueError, match="no encoding is called 'gbkk'"):
        read("id\n1\n", encoding="gbkk")
    with pytest.raises(ValueError, match=r"x\.csv: not valid gb18030 after byte 0"):
        read(b"id,x\n1,\xff\xff\xff\n", encoding="gb18030")


def test_rows_without_anything_are_passed_over_and_counted():
    rows, reading = read("id,answer\n1,a\n\n,\n ,  \n2,b\n3\n")
    assert [(number, row["id"], row["answer"]) for number, row in rows] == [
        (2, "1", "a"),
        (6, "2", "b"),
        (7, "3", None),
    ]
    assert (reading.rows, reading.blank, reading.said()) == (3, 3, ["empty rows passed over: 3"])


def test_a_row_with_too_many_cells_is_wrong_and_the_next_is_read():
    rows, _ = read("id,answer\n1,a,b\n2,c\n")
    assert isinstance(rows[0][1], RowError) and "the header has 2 columns, this row 3" in str(rows[0][1])
    assert rows[1] == (3, {"id": "2", "answer": "c"})


def test_what_was_read_comes_out_of_the_child_too():
    rows = read_rows(io.BytesIO(b"id,,answer\n1,x,a\n\n"), "x.csv")
    assert list(rows) == [(2, {"id": "1", "answer": "a"})]
    assert (rows.reading.rows, rows.reading.blank, rows.reading.columns) == (1, 1, ["id", "answer"])
    assert "column 2 has no name" in rows.reading.notes[0]


def test_names_of_columns_stay_where_others_name_them():
    [(_, row)], _ = read("Question ID,b\n1,2\n", fold=False)
    assert row == {"Question ID": "1", "b": "2"}
