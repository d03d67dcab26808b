"""Training a ranker on a release, and ranking with it."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

from baselines.encoders import (
    VOCABULARY,
    config_read,
    config_write,
    encoder_files,
    encoder_load,
    freeze,
    weights_load,
)
from baselines.loop import CHECKPOINT_STEPS, Loop, Numbers, Say, Schedule, device_found, tensors_save
from baselines.nq.vocabulary import pieces_read
from baselines.rankers.data import Ranking, candidates_of, ranking_files, ranking_read, run_lines, triples_of
from baselines.rankers.models import LONGEST, RANKERS, Ranker
from baselines.runs import WEIGHTS, record_read, record_write, run_begin, sources_of
from evaluation.files import EvaluationError

BATCH = 32  # pairs that are scored at once


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings that a ranker is trained with; the paper doesn't state any.

    ``random_worse``: the number of answers to other questions that each relevant answer is trained against.
    """

    ranker: str
    split: str = "train"
    random_worse: int = 1
    freeze: int = 0
    schedule: Schedule = field(default_factory=lambda: Schedule(rate=2e-5, epochs=2, batch=16))


def train(
    run: Path, *, release: Path, encoder: Path, recipe: Recipe, say: Say, checkpoint_steps: int = CHECKPOINT_STEPS
) -> dict[str, Any]:
    """Train a ranker into a run's folder, and return the run's record; the same command resumes an interrupted run.

    Raises
    ------
    EvaluationError
        The release or the encoder can't be used, or the folder holds another run.
    """
    ranking = ranking_read(release, recipe.split, needs_labels=True)
    triples = triples_of(ranking, random_worse=recipe.random_worse, seed=recipe.schedule.seed)
    if not triples:
        raise EvaluationError(f"{release}: no question of {recipe.split} has a relevant answer and another")
    vocabulary = pieces_read(encoder / VOCABULARY)
    loaded = encoder_load(encoder, pieces=len(vocabulary), length=LONGEST)
    record = run_begin(run, sources_of(recipe, encoder_files(encoder), ranking_files(release, recipe.split)))
    if (run / WEIGHTS).exists():
        return record
    shutil.copyfile(encoder / VOCABULARY, run / VOCABULARY)
    torch.manual_seed(recipe.schedule.seed)  # of first weights
    freeze(loaded, recipe.freeze)
    model = RANKERS[recipe.ranker](loaded, vocabulary)

    def loss(ranker: nn.Module, numbers: Numbers) -> Tensor:
        assert isinstance(ranker, Ranker)
        chosen = [triples[number] for number in numbers]
        questions = [ranking.questions[one.question] for one in chosen]
        better, worse = (
            ranker(questions, [ranking.answers[getattr(one, side)] for one in chosen]) for side in ("better", "worse")
        )
        return ranker.loss(better, worse)

    loop = Loop(run, model, recipe.schedule, count=len(triples), loss=loss)
    made = loop.go(say, checkpoint_steps)
    record |= {"triples": len(triples)} | made.as_record()
    record_write(run, record)
    config_write(loaded, run)
    tensors_save(model, run / WEIGHTS)
    loop.clean()
    return record


def rank(run: Path, *, release: Path, split: str, to: Path, say: Say, first: Path | None = None) -> dict[str, int]:
    """Write a TREC run of a split, or a score per pair of NLPCC; return how many questions and pairs were ranked.

    Parameters
    ----------
    first
        A TREC run whose answers are ranked again; without one, the answers that have a label, or all.

    Raises
    ------
    EvaluationError
        The run's folder holds no ranker, or a file can't be used.
    """
    record = record_read(run)
    name = record["recipe"].get("ranker")
    if name not in RANKERS:
        raise EvaluationError(f"{run}: holds no ranker")
    model = RANKERS[name](BertModel(config_read(run)), pieces_read(run / VOCABULARY))
    weights_load(model, run, f"a ranker {name}")
    ranking = ranking_read(release, split, needs_labels=False)
    candidates = candidates_of(ranking, first)
    part = to.with_name(f"{to.name}.part")
    pairs = 0
    with part.open("w", encoding="utf-8") as file:
        for number, (question, scores) in enumerate(scored(model, ranking, candidates), 1):
            file.writelines(_score_lines(scores) if release.is_file() else run_lines(question, scores, name))
            pairs += len(scores)
            if number % 100 == 0:
                say(f"{number:,} of {len(candidates):,} questions")
    part.replace(to)
    return {"questions": len(candidates), "pairs": pairs}


def _score_lines(scores: Mapping[str, float]) -> Iterator[str]:
    yield from (f"{score!r}\n" for score in scores.values())


def scored(
    model: Ranker, ranking: Ranking, candidates: Mapping[str, list[str]]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each question with the scores of its answers."""
    model.to(device_found()).eval()
    with torch.inference_mode():
        for question, answers in candidates.items():
            found: list[float] = []
            for start in range(0, len(answers), BATCH):
                some = [ranking.answers[one] for one in answers[start : start + BATCH]]
                found += model([ranking.questions[question]] * len(some), some).float().cpu().tolist()
            yield question, dict(zip(answers, found, strict=True))
