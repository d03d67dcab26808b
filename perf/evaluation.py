"""`evaluate nq` beside the official evaluation: ``python -m perf.evaluation [--examples N]``.

Files of the original format with pages of about a megabyte of JSON each, in five shards; both as processes of their own on
the same files, in turns, the official one with its default of ten processes. Prints wall-clock and CPU seconds of each
and their ratio, and compares what they print.
"""

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exports.formats.annotations import OF_ANNOTATIONS, annotation_row
from exports.formats.tables import Table
from exports.writers.tables import write_table

WORDS = 11_000  # tokens of a page that make about a megabyte of JSON
SHARDS = 5


def page(draw):
    """Return what of a record is about its page."""
    words = [
        draw.choice("the of in harbour lighthouse was built century and keeper tide".split()) for _ in range(WORDS)
    ]
    tokens, at = [], 0
    for number, word in enumerate(words):
        text, html = ("<P>", True) if number % 60 == 0 else ("</P>", True) if number % 60 == 59 else (word, False)
        tokens.append({"end_byte": at + len(text), "html_token": html, "start_byte": at, "token": text})
        at += len(text) + 1
    boxes = [
        {
            "end_byte": tokens[start + 59]["end_byte"],
            "end_token": start + 60,
            "start_byte": tokens[start]["start_byte"],
            "start_token": start,
            "top_level": True,
        }
        for start in range(0, WORDS - 60, 60)
    ]
    html = " ".join(token["token"] for token in tokens)
    return {
        "document_html": html,
        "document_title": "T",
        "document_tokens": tokens,
        "document_url": "u",
        "long_answer_candidates": boxes,
    }


def annotation(draw, row, number):
    """Return an answer: a box, with a span in it or without, or none."""
    null = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}
    if draw.random() < 0.4:
        return {
            "annotation_id": number,
            "long_answer": {**null, "candidate_index": -1},
            "short_answers": [],
            "yes_no_answer": "NONE",
        }
    index = draw.randrange(4)
    box = {name: value for name, value in row["long_answer_candidates"][index].items() if name != "top_level"}
    first = row["document_tokens"][box["start_token"] + 3]
    span = {
        "start_byte": first["start_byte"],
        "end_byte": first["end_byte"],
        "start_token": box["start_token"] + 3,
        "end_token": box["start_token"] + 4,
    }
    return {
        "annotation_id": number,
        "long_answer": {**box, "candidate_index": index},
        "short_answers": [span] * draw.randrange(2),
        "yes_no_answer": "NONE",
    }


def write(folder, examples):
    """Write shards and predictions; return the bytes of JSON that the shards hold."""
    draw, predictions, size = random.Random(3), [], 0
    names = [folder / f"nq-dev-{shard:02d}.jsonl.gz" for shard in range(SHARDS)]
    files = [gzip.open(name, "wb", compresslevel=6) for name in names]  # noqa: SIM115  closed below
    pages = [page(draw) for _ in range(4)]
    for number in range(examples):
        row = pages[number % len(pages)]
        made = {
            "annotations": [annotation(draw, row, n) for n in range(5)],
            **row,
            "example_id": number * 99_991,
            "question_text": "q",
            "question_tokens": ["q"],
        }
        line = json.dumps(made, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        size += len(line)
        files[number % SHARDS].write(line)
        said = annotation(draw, row, 0)
        predictions.append(
            {
                "example_id": made["example_id"],
                "long_answer": said["long_answer"],
                "long_answer_score": draw.random(),
                "short_answers": said["short_answers"],
                "short_answers_score": draw.random(),
                "yes_no_answer": "NONE",
            }
        )
    for file in files:
        file.close()
    (folder / "predictions.json").write_text(json.dumps({"predictions": predictions}))
    return size


def table(folder, shard):
    """Write the table of annotations that a release would have beside a shard."""
    with gzip.open(folder / f"nq-dev-{shard:02d}.jsonl.gz") as file:
        rows = [
            annotation_row(str(made["example_id"]), rank, one, "the words of a long answer " * 20, [])
            for made in map(json.loads, file)
            for rank, one in enumerate(made["annotations"])
        ]
    (folder / "tables").mkdir(exist_ok=True)
    made = Table(f"annotations-dev-{shard:02d}", "", OF_ANNOTATIONS, lambda: iter(rows))
    write_table(made, folder / made.lines, folder / made.parquet)


def run(command):
    """Run a process; return its output, wall-clock and CPU seconds, those of its children included."""
    before, begun = os.times(), time.perf_counter()
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return out, time.perf_counter() - begun, cpu


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=400)
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder, options.examples)
        for shard in range(SHARDS):
            table(folder, shard)
        (folder / "SHA256SUMS").touch()
        print(f"{options.examples} examples, {size / options.examples / 1e6:.2f} MB of JSON each")
        files, said = str(folder / "nq-dev-??.jsonl.gz"), str(folder / "predictions.json")
        official = ["natural_questions.nq_eval", f"--gold_path={files}", f"--predictions_path={said}"]
        ours = ["evaluation", "nq", "--predictions", said, "--json", "--resamples", "0", "--gold"]
        for _ in range(options.turns):
            theirs, their_wall, their_cpu = run([sys.executable, "-m", *official])
            print(f"official: {their_wall:.2f} s, {their_cpu:.2f} s CPU")
            for source, gold in (("files", files), ("tables", str(folder))):
                report, wall, cpu = run([sys.executable, "-m", *ours, gold])
                same = json.loads(re.search(r"\{.*\}", theirs).group()) == json.loads(report)["metrics"]
                print(
                    f"ours, {source}: {wall:.2f} s, {cpu:.2f} s CPU: {their_wall / wall:.1f} and {their_cpu / cpu:.1f} "
                    f"times as fast; same numbers: {same}"
                )


if __name__ == "__main__":
    main()
