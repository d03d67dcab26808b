"""The command line of BERT joint. PyTorch is loaded when it runs, not before."""

from argparse import ArgumentParser
from typing import Any

from baselines.arguments import (
    DATA,
    NEEDS,
    Say,
    Usual,
    add_prediction_arguments,
    add_threads_argument,
    add_training_arguments,
    files_of,
    predictions_text,
)
from evaluation.files import EvaluationError

HELP = "BERT joint: an encoder that marks the answer in windows over the page (Alberti, Lee, and Collins 2019)"


def add_arguments(parser: ArgumentParser) -> list[ArgumentParser]:
    """Add the parsers of training and of prediction, and return them."""
    acts = parser.add_subparsers(dest="act", required=True)
    train = acts.add_parser("train", help="train a model on a release", description="Train a model on a release.")
    train.add_argument("data", nargs="+", metavar="DATA", help=DATA)
    add_training_arguments(train, Usual(rate=3e-5, epochs=1, batch=8))
    train.add_argument("--length", type=int, default=512, help="word pieces per window (default 512)")
    train.add_argument(
        "--stride", type=int, default=128, help="word pieces between the starts of two windows (default 128)"
    )
    train.add_argument("--nulls", type=float, default=0.02, help="share of windows without an answer (default 0.02)")
    train.add_argument(
        "--workers", type=int, default=1, help="number of processes that read files in parallel (default 1)"
    )
    train.add_argument(
        "--as-published",
        action="store_true",
        help="place targets exactly as the published code does, including its errors",
    )
    train.add_argument("--blind", action="store_true", help="hide the questions from the model (a control)")
    train.add_argument(
        "--from-scratch",
        action="store_true",
        help="start from random weights with the encoder's architecture (a control)",
    )
    predict = acts.add_parser("predict", help="predict for a release", description="Predict for a release.")
    add_prediction_arguments(predict)
    predict.add_argument(
        "--with-kinds",
        action="store_true",
        help="let the predicted answer type alone decide yes, no, and long-only answers (not in the paper)",
    )
    for one in (train, predict):
        add_threads_argument(one)
    return [train, predict]


def run(options: dict[str, Any], say: Say) -> tuple[dict[str, Any], str]:
    """Train or predict; return the result and what it says in words.

    Raises
    ------
    EvaluationError
        PyTorch isn't installed, or a file can't be used.
    """
    try:
        from baselines.bert_joint import predicting, training  # noqa: PLC0415  only here, since they load PyTorch
        from baselines.bert_joint.instances import Sampling  # noqa: PLC0415
        from baselines.loop import schedule_of, threads_bound, trained_text  # noqa: PLC0415
        from baselines.nq.windows import Shape  # noqa: PLC0415
    except ImportError as error:
        raise EvaluationError(NEEDS.format(what="BERT joint")) from error
    files = files_of(options["data"])
    threads_bound(options["threads"])
    if options["act"] == "predict":
        found: dict[str, Any] = predicting.predict(
            options["run"], files=files, to=options["to"], say=say, with_kinds=options["with_kinds"]
        )
        return found, predictions_text(found, options["to"])
    recipe = training.Recipe(
        shape=Shape(
            length=options["length"],
            stride=options["stride"],
            as_published=options["as_published"],
            blind=options["blind"],
        ),
        sampling=Sampling(options["nulls"], options["seed"]),
        schedule=schedule_of(options),
        freeze=options["freeze"],
        from_scratch=options["from_scratch"],
    )
    record = training.train(
        options["to"], files=files, encoder=options["encoder"], recipe=recipe, say=say, workers=options["workers"]
    )
    return record, trained_text(record, options["to"])
