"""The command line of the rankers. PyTorch is loaded when it runs, not before."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from baselines.arguments import NEEDS, Say, Usual, add_threads_argument, add_training_arguments
from evaluation.files import EvaluationError

HELP = "answer rankers: BERT, a bi-encoder, DRMM-TKS, aNMM, and a control (ANTIQUE, section 5)"
SOURCE = "folder of a release in the ANTIQUE format, or a file of NLPCC pairs"
NAMES = ("bert", "bi-encoder", "drmm-tks", "anmm", "blind")


def add_arguments(parser: ArgumentParser) -> list[ArgumentParser]:
    """Add the parsers of training and of ranking, and return them."""
    acts = parser.add_subparsers(dest="act", required=True)
    train = acts.add_parser("train", help="train a ranker on a release", description="Train a ranker on a release.")
    train.add_argument("ranker", choices=NAMES, help="ranker to train; blind is a control that can't see the question")
    train.add_argument("release", type=Path, metavar="RELEASE", help=SOURCE)
    add_training_arguments(train, Usual(rate=2e-5, epochs=2, batch=16))
    train.add_argument("--split", default="train", help="split to train on (default train)")
    train.add_argument(
        "--random", type=int, default=1, help="random answers to other questions per relevant answer (default 1)"
    )
    predict = acts.add_parser("predict", help="rank answers", description="Rank the answers of a split.")
    predict.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    predict.add_argument("release", type=Path, metavar="RELEASE", help=SOURCE)
    predict.add_argument("--split", default="test", help="split to rank (default test)")
    predict.add_argument(
        "--first", type=Path, metavar="FILE", help="TREC run to rerank (default: rank the answers that have a label)"
    )
    predict.add_argument(
        "--to", required=True, type=Path, metavar="FILE", help="TREC run to write; for NLPCC pairs, one score per line"
    )
    for one in (train, predict):
        add_threads_argument(one)
    return [train, predict]


def run(options: dict[str, Any], say: Say) -> tuple[dict[str, Any], str]:
    """Train or rank; return the result and what it says in words.

    Raises
    ------
    EvaluationError
        PyTorch isn't installed, or a file can't be used.
    """
    try:
        from baselines.loop import schedule_of, threads_bound, trained_text  # noqa: PLC0415  only here, since they load PyTorch
        from baselines.rankers import ranking  # noqa: PLC0415
    except ImportError as error:
        raise EvaluationError(NEEDS.format(what="a ranker")) from error
    threads_bound(options["threads"])
    if options["act"] == "predict":
        found: dict[str, Any] = ranking.rank(
            options["run"],
            release=options["release"],
            split=options["split"],
            to=options["to"],
            say=say,
            first=options["first"],
        )
        return found, f"{found['pairs']:,} answers to {found['questions']:,} questions ranked in {options['to']}"
    recipe = ranking.Recipe(
        options["ranker"],
        split=options["split"],
        random_worse=options["random"],
        freeze=options["freeze"],
        schedule=schedule_of(options),
    )
    record = ranking.train(
        options["to"], release=options["release"], encoder=options["encoder"], recipe=recipe, say=say
    )
    return record, trained_text(record, options["to"])
