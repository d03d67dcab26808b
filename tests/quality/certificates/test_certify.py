"""Certificates of labels: the steps, what each refuses, and what a stranger finds in a record that was changed."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from quality.certificates.entries import LABELS, RECORD, hash_of, in_order
from quality.certificates.record import Record
from tests.conftest import ROOT
from tests.quality.certificates.audits import (
    LABELED,
    TAMPERED,
    WORDS,
    certified,
    certify,
    changed,
    drawn,
    frozen,
    judgments,
    other,
    relabeled,
    table,
)


def verified(out, *arguments):
    """Return what a stranger's check says."""
    said = StringIO()
    with suppress(CommandError):
        call_command("release_verify", str(out), "--certificate", *arguments, "--json", stdout=said, stderr=StringIO())
    return json.loads(said.getvalue())


def test_from_frozen_labels_to_a_certificate(tmp_path):
    out, order = drawn(tmp_path)
    assert sorted(order) == sorted(LABELED) and order != sorted(LABELED)
    first = certify("judge", out, judgments(tmp_path, order[:30], wrong={4}))
    assert "No certificate yet" in first and "30 of 200 labels judged, 1 wrong" in first
    last = certify("judge", out, judgments(tmp_path, order[30:]))
    assert "Certified: at most 5% of 200 labels are wrong, at a risk of 5%" in last
    found = verified(out)
    assert (found["valid"], found["outcome"], found["wrong"]) == (True, "certified", 1)
    assert 50 < found["judged"] < 150  # judged no more than needed, though more was given
    with pytest.raises(CommandError, match="this audit has ended"):
        certify("judge", out, judgments(tmp_path, order[150:]))
    assert certify("status", out) == last


def test_labels_that_are_wrong_too_often_get_no_certificate(tmp_path):
    out, order = drawn(tmp_path)
    certify("judge", out, judgments(tmp_path, order, wrong=set(range(0, 200, 8))))
    found = verified(out)
    assert (found["valid"], found["outcome"], found["judged"], found["wrong"]) == (True, "open", 200, 25)
    assert "Ended without a certificate" in certify("end", out)
    assert verified(out)["outcome"] == "ended"
    with pytest.raises(CommandError, match="has ended"):
        certify("end", out)


def test_nobody_chooses_a_seed_that_is_made_of_several_texts(tmp_path):
    commits = [f"--commit={name}={hash_of(text.encode())}" for name, text in WORDS.items()]
    out = frozen(tmp_path, *commits)
    for reveals, message in (
        ([], "exactly those who committed themselves: 'ann', 'bo'"),
        (["--reveal=ann=seven of clubs"], "committed themselves: 'bo'"),
        (["--reveal=ann=eight of clubs", f"--reveal=bo={WORDS['bo']}"], "the text of 'ann' isn't the one"),
    ):
        with pytest.raises(CommandError, match=message):
            certify("draw", out, *reveals)
    with pytest.raises(CommandError, match="the texts make the seed"):
        certify("draw", out, "--seed=1", *(f"--reveal={name}={text}" for name, text in WORDS.items()))
    certify("draw", out, *(f"--reveal={name}={text}" for name, text in WORDS.items()))
    record = Record(out)
    assert record.first("drawn")["seed"] == hash_of("ann\nseven of clubs\nbo\n雨が降る".encode())
    assert verified(out)["valid"]
    for commit, message in (
        ("me=" + "0" * 64, "one person's text is no draw"),
        ("me=x", "one person's|isn't a SHA-256"),
    ):
        with pytest.raises(CommandError, match=message):
            certify("freeze", tmp_path / "labels.csv", "--to", tmp_path / "other", f"--commit={commit}")
    with pytest.raises(CommandError, match="isn't a SHA-256"):
        certify("freeze", tmp_path / "labels.csv", "--to", tmp_path / "other", "--commit=a=x", "--commit=b=y")
    changed(out, lambda entries: [entry | ({"reveals": {}} if entry["kind"] == "drawn" else {}) for entry in entries])
    assert not verified(out)["valid"]


def test_the_order_is_that_of_hashes_anybody_can_compute():
    assert in_order("s", ["b", "a", "ü"]) == sorted(["b", "a", "ü"], key=lambda item: hash_of(f"s\n{item}".encode()))


def test_a_seed_is_drawn_once_and_says_where_it_comes_from(tmp_path):
    out, order = drawn(tmp_path)
    with pytest.raises(CommandError, match="is set already"):
        certify("draw", out, "--seed", "5")
    (tmp_path / "x").mkdir()
    again = frozen(tmp_path / "x")
    for seed in ("", "8F3A", " 8f3a", "0x8f3a", "a beacon"):
        with pytest.raises(CommandError, match="digits and letters from a to f, in lower case"):
            certify("draw", again, "--seed", seed)
    with pytest.raises(CommandError, match="this folder isn't empty"):
        frozen(tmp_path)
    for source in ("", " "):
        with pytest.raises(CommandError, match="from a stated source"):
            certify("freeze", tmp_path / "labels.csv", "--to", tmp_path / "new", "--source", source)


def test_nothing_is_judged_before_the_draw_nor_out_of_order(tmp_path):
    out = frozen(tmp_path)
    path = judgments(tmp_path, list(LABELED)[:3])
    with pytest.raises(CommandError, match="the seed isn't drawn yet"):
        certify("judge", out, path)
    with pytest.raises(CommandError, match="the seed isn't drawn yet"):
        certify("end", out)
    certify("draw", out, "--seed", "4f2a")
    order = Record(out).order()
    before = (out / RECORD).read_bytes()
    for rows, message in (
        (order[1:3], f"'{order[0]}' comes before '{order[1]}'"),
        ([order[0], order[2]], f"'{order[1]}' comes before '{order[2]}'"),
    ):
        with pytest.raises(CommandError, match=message):
            certify("judge", out, judgments(tmp_path, rows))
    for row, message in (
        (("elsewhere", "1", "", ""), "'elsewhere' has no frozen label"),
        ((order[0], "1", "", "noon"), "line 2, column at: 'noon' isn't a time"),
        ((order[0], "1", "", "0001-01-01T00:00:00+08:00"), "isn't a time"),
        ((order[0], "1", "", "2019-05-04T12:00:00Z"), "before the draw"),
        ((order[0], "1", "", "2999-05-04T12:00:00Z"), "or in the future"),
    ):
        with pytest.raises(CommandError, match=message):
            certify("judge", out, table(tmp_path / "row.csv", [row]))
    assert (out / RECORD).read_bytes() == before
    certify("judge", out, judgments(tmp_path, order[:2]))
    with pytest.raises(CommandError, match="was judged before"):
        certify("judge", out, judgments(tmp_path, order[1:3]))


def test_an_expert_may_say_what_no_label_says_and_it_counts_as_differing(tmp_path):
    out, order = drawn(tmp_path)
    rows = [(item, "unclear" if place < 2 else LABELED[item], "e", "") for place, item in enumerate(order[:20])]
    said = certify("judge", out, table(tmp_path / "j.csv", [*rows, (order[20], "", "", ""), (order[21], "", "", "")]))
    assert "no frozen label is 'unclear': such judgments count as differing" in said
    assert "20 of 200 labels judged, 2 wrong" in said
    assert verified(out)["valid"]


def test_nothing_is_added_to_a_record_that_was_changed(tmp_path):
    out, order = drawn(tmp_path)
    relabeled(out)
    before = (out / RECORD).read_bytes()
    for step in (("judge", out, judgments(tmp_path, order)), ("end", out), ("status", out)):
        with pytest.raises(CommandError, match=r"labels.jsonl: was changed"):
            certify(*step)
    assert (out / RECORD).read_bytes() == before


def test_equal_numbers_are_one_label_however_an_expert_writes_them(tmp_path):
    out, order = drawn(tmp_path)
    certify("judge", out, table(tmp_path / "j.csv", [(item, f"{LABELED[item]}.0", "e", "") for item in order[:20]]))
    assert verified(out)["wrong"] == 0


@pytest.mark.parametrize("kind", TAMPERED)
def test_a_record_that_was_changed_is_found(tmp_path, kind):
    out = certified(tmp_path)
    assert verified(out)["valid"]
    TAMPERED[kind](out)
    found = verified(out)
    assert not found["valid"] and found["problems"]


def test_any_changed_byte_breaks_the_chain_or_the_labels(tmp_path):
    out = certified(tmp_path)
    lines = (out / RECORD).read_bytes().splitlines(keepends=True)
    for place in (0, 1, len(lines) // 2, len(lines) - 2):
        line = lines[place]
        at = line.index(b'"at":"2') + 8
        (out / RECORD).write_bytes(b"".join([*lines[:place], line[:at] + b"1" + line[at + 1 :], *lines[place + 1 :]]))
        assert any("doesn't follow the line before" in one["problem"] for one in verified(out)["problems"]), place


def test_a_whole_record_that_is_not_the_published_one_is_found(tmp_path, settings):
    out = certified(tmp_path)
    head, key = hash_of((out / RECORD).read_bytes().splitlines()[0]), verified(out)["key"]
    assert verified(out, "--head", head, "--key", key)["valid"]
    shutil.rmtree(out)
    settings.SECRET_KEY = "of another installation"
    other_one = certified(tmp_path, "--risk=0.06")
    assert verified(other_one)["valid"]
    problems = [one["problem"] for one in verified(other_one, "--head", head, "--key", key)["problems"]]
    assert any("doesn't have the published hash" in one for one in problems)
    assert any("isn't signed by the key" in one for one in problems)


@pytest.mark.parametrize(
    "broken", ["", "{}\n", "no json\n", '{"kind":"frozen"}\n', "[1]\n", '{"kind":"frozen"}', "[" * 100_000 + "\n"]
)
def test_what_is_no_record_is_told(tmp_path, broken):
    out = frozen(tmp_path)
    (out / RECORD).write_text(broken)
    with pytest.raises(CommandError):
        call_command("release_verify", str(out), "--certificate", stdout=StringIO(), stderr=StringIO())
    (out / RECORD).unlink()
    with pytest.raises(CommandError, match="No such file"):
        call_command("release_verify", str(out), "--certificate", stdout=StringIO(), stderr=StringIO())


def test_a_hostile_record_is_told_and_prints_no_escape_codes(tmp_path):
    out = certified(tmp_path)
    for name, value in (
        ("at", "\x1b[2J"),
        ("commitments", ["x"]),
        ("size", 1e300),
        ("risk", float("nan")),
        ("sha256", 3),
        ("size", 200.0),
    ):
        changed(out, lambda entries, name=name, value=value: [{**entries[0], name: value}, *entries[1:]])
        said = StringIO()
        with pytest.raises(CommandError) as error:
            call_command("release_verify", str(out), "--certificate", stdout=said, stderr=StringIO())
        assert "\x1b" not in said.getvalue() + str(error.value), name


def killed(folder, *words, at):
    """Run a step that is killed when it would replace its ``at``-th file."""
    script = (
        "import os, pathlib, signal, sys; sys.argv = ['manage.py', 'certify', *sys.argv[2:]]; left = [AT]\n"
        "done = pathlib.Path.replace\n"
        "def replace(*paths):\n"
        "    left[0] -= 1\n"
        "    return done(*paths) if left[0] else os.kill(os.getpid(), signal.SIGKILL)\n"
        "pathlib.Path.replace = replace\n"
        "exec(compile(open('manage.py').read(), 'manage.py', 'exec'))"
    ).replace("AT", str(at))
    environment = os.environ | {"QUORATE_DATA": str(folder / "data")}
    done = subprocess.run([sys.executable, "-c", script, "-", *map(str, words)], cwd=ROOT, env=environment, check=False)
    assert done.returncode == -9


def test_a_killed_step_can_be_repeated(tmp_path):
    """What is there after each kill is whole: of the draw, its table comes before the seed, which is set once."""
    out = frozen(tmp_path)
    for at in (1, 2):
        killed(tmp_path, "draw", out, "--seed", "4f2a", at=at)
        assert not Record(out).has("drawn")
    certify("draw", out, "--seed", "4f2a")
    assert (out / "to_judge.csv").exists()
    path = judgments(tmp_path, Record(out).order()[:10])
    killed(tmp_path, "judge", out, path, at=1)
    assert verified(out)["judged"] == 0
    certify("judge", out, path)
    assert verified(out)["judged"] == 10


def test_a_plan_says_how_many_judgments_it_takes():
    found = json.loads(certify("plan", 5_000, "--json"))["plan"]
    assert found[0]["wrong"] == 0 and 60 < found[0]["mean"] < 110
    assert [row["mean"] for row in found] == sorted(row["mean"] for row in found)
    with pytest.raises(CommandError, match="lie between 0 and 1"):
        certify("plan", 5_000, "--error", "1.5")


def test_a_changed_label_that_was_judged_is_found_too(tmp_path):
    out = certified(tmp_path)
    item = Record(out).judged()[4]["item"]
    path = out / LABELS
    path.write_text(
        path.read_text().replace(f'"{item}","label":"{LABELED[item]}"', f'"{item}","label":"{other(LABELED[item])}"')
    )
    assert not verified(out)["valid"]
