"""The command line of the readers. PyTorch is loaded when it runs, not before."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from baselines.arguments import (
    DATA,
    NEEDS,
    Say,
    Usual,
    add_prediction_arguments,
    add_schedule_arguments,
    add_threads_argument,
    files_of,
    predictions_text,
)
from evaluation.files import EvaluationError

HELP = "readers of the Natural Questions paper (sections 6.2 and 6.3): DecAtt with DocReader, and DocumentQA"
NAMES = ("decatt-docreader", "documentqa")


def add_arguments(parser: ArgumentParser) -> list[ArgumentParser]:
    """Add the parsers of training and of prediction, and return them."""
    acts = parser.add_subparsers(dest="act", required=True)
    train = acts.add_parser("train", help="train a reader on a release", description="Train a reader on a release.")
    train.add_argument("reader", choices=NAMES, help="reader to train")
    train.add_argument("data", nargs="+", metavar="DATA", help=DATA)
    train.add_argument(
        "--to",
        required=True,
        type=Path,
        metavar="RUN",
        help="folder of the run; running the command again resumes the run",
    )
    add_schedule_arguments(train, Usual(rate=1e-3, epochs=20, batch=15))
    predict = acts.add_parser("predict", help="predict for a release", description="Predict for a release.")
    add_prediction_arguments(predict)
    for one in (train, predict):
        add_threads_argument(one, usual=1)  # their steps are too small to share
        one.add_argument(
            "--vectors",
            required=True,
            type=Path,
            metavar="SOURCE",
            help="word vectors, as a file in the GloVe format or the folder of an encoder",
        )
    return [train, predict]


def run(options: dict[str, Any], say: Say) -> tuple[dict[str, Any], str]:
    """Train or predict; return the result and what it says in words.

    Raises
    ------
    EvaluationError
        PyTorch isn't installed, or a file can't be used.
    """
    try:
        from baselines.loop import schedule_of, threads_bound, trained_text  # noqa: PLC0415  only here, since they load PyTorch
        from baselines.readers import running  # noqa: PLC0415
    except ImportError as error:
        raise EvaluationError(NEEDS.format(what="a reader")) from error
    files, vectors, to = files_of(options["data"]), options["vectors"], options["to"]
    threads_bound(options["threads"])
    if options["act"] == "predict":
        found: dict[str, Any] = running.predict(options["run"], files=files, vectors=vectors, to=to, say=say)
        return found, predictions_text(found, to)
    recipe = running.Recipe(options["reader"], schedule_of(options))
    record = running.train(to, files=files, vectors=vectors, recipe=recipe, say=say)
    return record, trained_text(record, to)
