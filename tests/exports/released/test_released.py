"""A stranger with the folder alone: checks it, compares it with another, and computes its labels again."""

import json
from itertools import product

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.slots.services.exclusions import annotation_exclude
from exports.released.folder import FolderError, ReleasedFolder
from exports.released.revote import Revote, label_of, revote
from exports.released.verify import problems
from quality.labels.ties_and_rounds import Vote, standing
from quality.policies.policy import Policy, Process, SecondRound
from tests import factories
from tests.exports.test_tables import lines, release

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
POLICIES = {
    Revote.SECOND: Policy(second_round=SecondRound.ALONE),
    Revote.POOLED: Policy(second_round=SecondRound.POOLED),
    Revote.PLURALITY: Policy(process=Process.FIXED),
}


def said(*command, capsys):
    capsys.readouterr()
    call_command(*command, "--json")
    return json.loads(capsys.readouterr().out)


def answers(folder):
    return {row["item_id"]: row["answer_id"] for row in lines(folder, "items")}


def test_a_release_is_found_whole(judged, tmp_path, capsys):
    folder = release(judged, tmp_path, "--author", "Agnes")
    assert said("release_verify", str(folder), capsys=capsys)["valid"]
    call_command("release_verify", str(folder))


@pytest.mark.parametrize(
    ("damage", "where", "what"),
    [
        (
            lambda folder: (folder / "antique-train.qrel").write_text("0045 Q0 0045_0 4\n"),
            "antique-train.qrel",
            "was changed",
        ),
        (lambda folder: (folder / "tables/labels.parquet").unlink(), "tables/labels.parquet", "is missing"),
        (lambda folder: (folder / "notes.txt").write_text("mine"), "notes.txt", "part of the release"),
        (lambda folder: (folder / "README.md").write_text("# Another"), "README.md", "was changed"),
    ],
)
def test_what_is_wrong_with_a_release_is_said_by_file(judged, tmp_path, capsys, damage, where, what):
    folder = release(judged, tmp_path)
    damage(folder)
    with pytest.raises(CommandError, match="1 problems"):
        call_command("release_verify", str(folder))
    [line] = capsys.readouterr().out.splitlines()[-1:]
    assert line.startswith(f"{where}: ")
    assert what in line


def test_a_table_that_is_not_what_the_manifest_says_is_told_by_line_and_column(judged, tmp_path):
    folder = ReleasedFolder(release(judged, tmp_path))
    for column in folder.manifest["tables"]["labels"]["columns"]:
        if column["name"] == "rule":
            column["type"] = "integer"
    folder.manifest["files"]["tables/labels.jsonl.gz"]["rows"] = 9
    found = [what for name, what in problems(folder) if name == "tables/labels.jsonl.gz"]
    assert found[0] == "line 1: rule: expected integer"
    assert found[-1] == "has 5 rows, the manifest says 9"


def test_what_is_no_release_is_refused_with_the_reason(tmp_path):
    for text in (None, "{", "[]", "{}"):
        if text is not None:
            (tmp_path / "manifest.json").write_text(text)
        for command in (["release_verify"], ["release_revote", "--policy", "majority"]):
            with pytest.raises(CommandError, match=r"manifest\.json"):
                call_command(command[0], str(tmp_path), *command[1:])


def test_a_checksum_file_cannot_point_outside_the_folder(judged, tmp_path):
    folder = release(judged, tmp_path)
    with (folder / "SHA256SUMS").open("a") as sums:
        sums.write(f"{'0' * 64}  ../secret\n")
    with pytest.raises(CommandError, match="SHA256SUMS: line"):
        call_command("release_verify", str(folder))


def test_two_releases_differ_in_what_happened_between_them(judged, tmp_path, capsys):
    first = release(judged, tmp_path / "first")
    gone = judged.annotations.filter(item__content__answer_id="2146313_1").first()
    annotation_exclude(annotation=gone, because="inspection", actor_id=None, now=timezone.now())
    factories.examine(judged)
    second = release(judged, tmp_path / "second")
    names = answers(first)
    there, back = (said("release_diff", str(a), str(b), capsys=capsys) for a, b in ((first, second), (second, first)))
    assert ([names[item] for item in there["removed"]], there["added"], there["changed"]) == (["2146313_1"], [], [])
    assert back["added"] == there["removed"]
    call_command("release_diff", str(first), str(second))
    assert "1 items removed" in capsys.readouterr().out


def test_releases_without_labels_differ_by_their_annotations(tmp_path, capsys):
    campaign = factories.campaign(n=1, items=2)
    first_made = [factories.annotate(campaign, person := factories.annotator(campaign), label="bad")]
    factories.annotate(campaign, person, label="bad")
    first = release(campaign, tmp_path / "first", "--ways", "1", family="nq-original")
    annotation_exclude(annotation=first_made[0], because="inspection", actor_id=None, now=timezone.now())
    again = factories.annotate(campaign, factories.annotator(campaign), label="bad")
    second = release(campaign, tmp_path / "second", "--ways", "1", family="nq-original")
    [changed] = said("release_diff", str(first), str(second), capsys=capsys)["changed"]
    assert (changed["before"], changed["after"]) == ([first_made[0].published_id], [again.published_id])


def test_the_policy_of_the_campaign_gives_the_labels_of_the_release(judged, tmp_path):
    folder = ReleasedFolder(release(judged, tmp_path))
    assert revote(folder, Revote.SECOND).changes == []


def test_without_an_annotator_two_to_one_decides_nothing_and_two_who_agree_do(judged, tmp_path, capsys):
    folder = release(judged, tmp_path)
    names = answers(folder)
    split = next(item for item, answer in names.items() if answer == "2146313_0")  # 4, 4, 3
    votes = {row["label"]: row["annotator"] for row in lines(folder, "judgments") if row["item_id"] == split}
    without = {
        label: said("release_revote", str(folder), "--policy", "second", "--without", votes[label], capsys=capsys)
        for label in (3, 4)
    }
    assert split not in without[3]["undecided"]
    assert split in without[4]["undecided"]
    with pytest.raises(CommandError, match="no annotators"):
        call_command("release_revote", str(folder), "--policy", "second", "--without", "annotator-x")


def test_labels_can_be_written_and_majority_alone_leaves_what_the_expert_decided(judged, tmp_path, capsys):
    folder = release(judged, tmp_path / "release")
    found = said(
        "release_revote", str(folder), "--policy", "majority", "--to", str(tmp_path / "out.tsv"), capsys=capsys
    )
    assert [answers(folder)[item] for item in found["undecided"]] == ["0045_2"]
    assert len((tmp_path / "out.tsv").read_text().splitlines()) == 4
    call_command("release_revote", str(folder), "--policy", "dawid-skene")
    assert "5 items" in capsys.readouterr().out


def test_a_release_without_labels_says_so(tmp_path):
    campaign = factories.campaign(n=1, items=1)
    factories.annotate(campaign, factories.annotator(campaign), label="bad")
    folder = ReleasedFolder(release(campaign, tmp_path, "--ways", "1", family="nq-original"))
    with pytest.raises(FolderError, match="no table labels"):
        revote(folder, Revote.MAJORITY)


@pytest.mark.parametrize("policy", POLICIES)
def test_with_every_vote_there_a_policy_is_that_of_the_platform(policy):
    """Every three votes of a first round, with every second round and with none, with an expert and without."""
    triples = list(product((1, 2, 3), repeat=3))
    for first, second, opinion in product(triples, [(), *triples], (None, 4)):
        first_votes, second_votes = ([Vote(0, label) for label in votes] for votes in (first, second))
        stands = standing(first_votes, second_votes, opinion, needed=3, policy=POLICIES[policy])
        said = None if stands.stage == "second" else opinion  # no expert is asked before the second round
        label = label_of({1: list(first), 2: list(second)}, 3, said, policy)
        assert label == stands.label, (first, second, opinion)


def test_items_that_fell_short_are_no_part_of_what_is_computed_again(judged, tmp_path, capsys):
    """One of them is left with two votes that agree: a label for it would be one that the release does not have."""
    vote = judged.annotations.filter(item__content__answer_id="2146313_1").first()
    annotation_exclude(annotation=vote, because="excluded", actor_id=None, now=timezone.now())
    factories.examine(judged)
    folder = release(judged, tmp_path)
    short = [row["item_id"] for row in lines(folder, "items") if not row["is_released"]]
    assert len(short) == 1
    found = revote(ReleasedFolder(folder), Revote.ALL)
    assert short[0] not in found.labels
    assert len(found.labels) == 4


def test_ranks_of_systems_by_other_labels_are_those_worked_out_by_hand(judged, tmp_path, capsys):
    folder = release(judged, tmp_path)
    # Labels: 4, 1 and 3 of the one question, 2 and 2 of the other, the last by the expert.
    runs = {
        "first.txt": {"2146313": ["2146313_0", "2146313_8", "2146313_1"], "0045": ["0045_0", "0045_2"]},
        "second.txt": {"2146313": ["2146313_8", "2146313_0", "2146313_1"], "0045": ["0045_2", "0045_0"]},
    }
    for name, run in runs.items():
        (tmp_path / name).write_text(
            "".join(
                f"{question} Q0 {answer} 1 {-place} r\n"
                for question, found in run.items()
                for place, answer in enumerate(found)
            )
        )
    options = ["--run", *(str(tmp_path / name) for name in runs), "--measure", "nDCG@1"]
    found = said("release_revote", str(folder), "--policy", "majority", *options, capsys=capsys)
    before = {one["run"]: (one["before"], one["rank_before"]) for one in found["runs"]}
    # Gains are labels less 1: 3 of 3 at best for the one question; both pairs of the other have the same label.
    assert before["first.txt"] == (pytest.approx(1.0), 1)
    assert before["second.txt"] == (pytest.approx((2 / 3 + 1) / 2), 2)
    call_command("release_revote", str(folder), "--policy", "majority", *options)
    assert "place 1 → 1" in capsys.readouterr().out
    (tmp_path / "none.txt").write_text("other Q0 a 1 1 r\n")
    with pytest.raises(CommandError, match="answers no question that has labels"):
        call_command("release_revote", str(folder), "--policy", "majority", "--run", str(tmp_path / "none.txt"))
