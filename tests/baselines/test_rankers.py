"""Rankers from a release's folder to a TREC run: what they learn, what padding does, and what is refused."""

import json
import random

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make ml")

import torch
from django.core.management import call_command
from transformers import BertModel

from baselines.loop import Schedule
from baselines.nq.vocabulary import pieces_read
from baselines.rankers import command
from baselines.rankers.data import candidates_of, ranking_read, triples_of
from baselines.rankers.generated import generated_ranking_write
from baselines.rankers.models import RANKERS
from baselines.rankers.ranking import Recipe, rank, train
from evaluation.files import EvaluationError
from evaluation.relevance.files import Run, read_qrels, read_run
from evaluation.relevance.report import Convention, values_of
from sources.bm25 import bm25_rankings
from tests.baselines.encoders import tiny_encoder
from tests.baselines.interrupted import is_same_after_an_interruption

FAST = Schedule(rate=1e-2, epochs=8, batch=32, seed=1)


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    generated_ranking_write(folder, train=48, test=20, seed=1)
    return folder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory, release):
    """Return the folder of a tiny BERT with random weights that knows the words of the release."""
    folder = tmp_path_factory.mktemp("encoder")
    texts = [line.partition("\t")[2] for path in release.glob("*.txt") for line in path.read_text().splitlines()]
    words = sorted({word for text in texts for word in text.split()})
    return tiny_encoder(folder, words)


def mean_ap(release, run):
    qrels = read_qrels(release / "antique-test.qrel", lowest=1)
    scored = read_run(run, qrels) if not isinstance(run, Run) else run
    found = values_of(qrels, scored, Convention())["MAP"]
    values = list(found.values()) if isinstance(found, dict) else list(found)
    return sum(values) / len(values)


@pytest.mark.parametrize("name", ["drmm-tks", "anmm"])
def test_a_ranker_learns_what_a_search_by_words_cannot_find(name, release, encoder, tmp_path):
    recipe = Recipe(name, schedule=FAST)
    train(tmp_path / "run", release=release, encoder=encoder, recipe=recipe, say=lambda _: None)
    counted = rank(tmp_path / "run", release=release, split="test", to=tmp_path / "out.run", say=lambda _: None)
    assert counted == {"questions": 20, "pairs": 100}
    ranking = ranking_read(release, "test", needs_labels=True)
    asked = ranking.questions
    by_words = Run("bm25")
    for found in bm25_rankings(ranking.answers, asked, depth=1_000):
        own = ranking.labels[found.question]
        by_words.scores[found.question] = {answer: score for answer, score in found.answers if answer in own}
    chance, drawn = random.Random(1), Run("random")
    drawn.scores = {question: {answer: chance.random() for answer in own} for question, own in ranking.labels.items()}
    mine = mean_ap(release, tmp_path / "out.run")
    assert mine > 0.9 > mean_ap(release, drawn) > mean_ap(release, by_words)


@pytest.mark.parametrize("name", list(RANKERS))
def test_training_is_repeatable_and_an_interrupted_run_ends_with_the_same_weights(name, release, encoder, tmp_path):
    recipe = Recipe(name, schedule=Schedule(rate=1e-3, epochs=1, batch=48, seed=2))
    options = {"release": release, "encoder": encoder, "recipe": recipe, "checkpoint_steps": 3}
    whole = train(tmp_path / "whole", say=lambda _: None, **options)

    assert is_same_after_an_interruption(train, tmp_path, whole, step=6, **options)
    assert whole["recipe"]["ranker"] == name


@pytest.mark.parametrize("name", list(RANKERS))
def test_what_stands_beside_it_in_a_batch_changes_no_score(name, release, encoder):
    torch.manual_seed(3)
    vocabulary = pieces_read(encoder / "vocab.txt")
    model = RANKERS[name](BertModel.from_pretrained(encoder), vocabulary).eval()
    ranking = ranking_read(release, "test", needs_labels=True)
    question, *others = list(ranking.questions.values())[:3]
    answer, *more = list(ranking.answers.values())[:3]
    with torch.inference_mode():
        alone = model([question], [answer])
        together = model([question, others[0], f"{others[1]} {question}"], [answer, " ".join(more * 5), "well"])
    assert float(together[0]) == pytest.approx(float(alone[0]), abs=1e-5)
    with torch.inference_mode():
        other = model([others[0]], [answer])
    assert (float(other[0]) == pytest.approx(float(alone[0]), abs=1e-7)) == (name == "blind")


def test_what_is_learned_from_has_the_better_answer_first_and_its_random_ones_are_of_other_questions(release):
    ranking = ranking_read(release, "train", needs_labels=True)
    triples = triples_of(ranking, random_worse=2, seed=5)
    assert len(triples) == 48 * 2 * (3 + 2)
    assert triples == triples_of(ranking, random_worse=2, seed=5) != triples_of(ranking, random_worse=2, seed=6)
    for one in triples:
        own = ranking.labels[one.question]
        assert own[one.better] >= 3
        assert own.get(one.worse, 1) < 3


def test_a_run_is_ranked_again_and_an_empty_text_is_ranked_too(release, encoder, tmp_path):
    train(tmp_path / "run", release=release, encoder=encoder, recipe=Recipe("anmm", schedule=FAST), say=lambda _: None)
    ranking = ranking_read(release, "test", needs_labels=True)
    question = min(ranking.questions)
    answers = sorted(ranking.answers)[:4]
    first = tmp_path / "first.run"
    first.write_text("".join(f"{question} Q0 {answer} {at} {-at} bm25\n" for at, answer in enumerate(answers, 1)))
    rank(tmp_path / "run", release=release, split="test", to=tmp_path / "out", say=lambda _: None, first=first)
    rows = [line.split() for line in (tmp_path / "out").read_text().splitlines()]
    assert sorted(row[2] for row in rows) == answers
    assert [float(row[4]) for row in rows] == sorted((float(row[4]) for row in rows), reverse=True)
    first.write_text(f"{question} Q0 nowhere 1 1 bm25\n")
    with pytest.raises(EvaluationError, match="line 1: answer nowhere is not in the collection"):
        candidates_of(ranking, first)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("antique-train.qrel", None, "antique-train.qrel"),
        ("antique-train.qrel", "0 U0 nowhere 4\n", "has a label and no text"),
        ("antique-collection.txt", "no tab\n", "line 1"),
        ("antique-train.qrel", "0 U0 0_0 1\n", "no question of train has a relevant answer"),
    ],
)
def test_a_folder_that_is_no_release_ends_with_a_sentence(name, content, said, release, encoder, tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    for path in release.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / name).unlink() if content is None else (folder / name).write_text(content)
    with pytest.raises(EvaluationError, match=said):
        train(tmp_path / "run", release=folder, encoder=encoder, recipe=Recipe("anmm"), say=lambda _: None)


def test_the_command_trains_and_ranks(release, encoder, tmp_path, capsys):
    assert set(command.NAMES) == set(RANKERS)
    run, out = str(tmp_path / "run"), str(tmp_path / "out.run")
    call_command(
        "baseline", "rank", "train", "anmm", str(release), "--encoder", str(encoder), "--to", run, "--rate", "1e-2"
    )
    call_command("baseline", "rank", "predict", run, str(release), "--to", out, "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"questions": 20, "pairs": 100}
