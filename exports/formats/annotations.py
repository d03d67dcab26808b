"""Natural Questions annotations as a table: the content of the official formats, without the page."""

from typing import Any

import orjson

from annotation.tasktypes.columns import Column, Kind
from exports.formats.tables import Row

_OFFSETS = ("start_byte", "end_byte", "start_token", "end_token")
OF_ANNOTATIONS = (
    Column("item_id", Kind.TEXT, "The example_id of the record. Text: it may exceed 2^53."),
    Column("annotation_id", Kind.TEXT, "Of the annotation. Text: it may exceed 2^53."),
    Column("rank", Kind.INTEGER, "Its place among the annotations of the record, from 0."),
    Column("candidate_index", Kind.INTEGER, "The long answer among the record's long_answer_candidates; -1 for none."),
    *(Column(f"long_{name}", Kind.INTEGER, f"The {name} of the long answer; -1 for none.") for name in _OFFSETS),
    Column("short_answers", Kind.JSON, "The short answers: [[start_byte, end_byte, start_token, end_token], …]."),
    Column("yes_no_answer", Kind.TEXT, "YES, NO or NONE."),
    Column("long_answer_text", Kind.TEXT, "The words of the long answer, joined by blanks."),
    Column("short_answer_texts", Kind.JSON, "The words of each short answer, as a list."),
)


def annotation_row(item_id: str, rank: int, record: dict[str, Any], long_text: str, short_texts: list[str]) -> Row:
    """Return the table row of an annotation in the original format, with the text of its spans."""
    long = record["long_answer"]
    spans = [[span[name] for name in _OFFSETS] for span in record["short_answers"]]
    return (
        item_id,
        str(record["annotation_id"]),
        rank,
        long["candidate_index"],
        *(long[name] for name in _OFFSETS),
        orjson.dumps(spans).decode(),
        record["yes_no_answer"],
        long_text,
        orjson.dumps(short_texts).decode(),
    )
