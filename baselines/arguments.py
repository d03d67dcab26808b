"""The arguments that all trained baselines share, and what they need."""

from argparse import ArgumentParser
from pathlib import Path
from typing import NamedTuple

NEEDS = (
    "{what} needs PyTorch and transformers: pip install torch==2.13.0, then pip install --require-hashes "
    "-r requirements-ml.txt"
)


class Usual(NamedTuple):
    """What a baseline trains with unless told otherwise."""

    rate: float
    epochs: int
    batch: int


def add_training_arguments(parser: ArgumentParser, usual: Usual) -> None:
    """Add where the encoder is and the run goes, and how long and fast to learn."""
    parser.add_argument(
        "--encoder", required=True, type=Path, metavar="DIR", help="a BERT encoder in Hugging Face form"
    )
    parser.add_argument("--to", required=True, type=Path, metavar="RUN", help="the folder of the run; again resumes it")
    parser.add_argument("--rate", type=float, default=usual.rate, help=f"peak learning rate (default {usual.rate:g})")
    parser.add_argument(
        "--epochs", type=int, default=usual.epochs, help=f"passes over the data (default {usual.epochs})"
    )
    parser.add_argument("--batch", type=int, default=usual.batch, help=f"instances at a time (default {usual.batch})")
    parser.add_argument("--accumulate", type=int, default=1, help="batches in a step (default 1)")
    parser.add_argument("--freeze", type=int, default=0, help="first layers, and embeddings, that stay as they are")
    parser.add_argument("--seed", type=int, default=0, help="of first weights, order, dropout, and what is drawn")
