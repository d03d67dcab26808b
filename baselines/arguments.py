"""The arguments that all trained baselines share, and helpers for them."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from evaluation.files import EvaluationError, matching_files

NEEDS = (
    "{what} needs PyTorch and transformers: pip install torch==2.13.0, then pip install --require-hashes "
    "-r requirements-ml.txt"
)
DATA = "folder of a release, or Natural Questions files"
Say = Callable[[str], object]


class Usual(NamedTuple):
    """The default training settings of a baseline."""

    rate: float
    epochs: int
    batch: int


def add_training_arguments(parser: ArgumentParser, usual: Usual) -> None:
    """Add the folders of the encoder and the run, and the training schedule."""
    parser.add_argument(
        "--encoder", required=True, type=Path, metavar="DIR", help="folder of a BERT encoder in the Hugging Face format"
    )
    parser.add_argument(
        "--to",
        required=True,
        type=Path,
        metavar="RUN",
        help="folder of the run; running the command again resumes the run",
    )
    add_schedule_arguments(parser, usual)
    parser.add_argument(
        "--freeze", type=int, default=0, help="number of lower layers to freeze, with the embeddings (default 0)"
    )


def add_schedule_arguments(parser: ArgumentParser, usual: Usual) -> None:
    """Add the training schedule, such as epochs and learning rate."""
    parser.add_argument("--rate", type=float, default=usual.rate, help=f"peak learning rate (default {usual.rate:g})")
    parser.add_argument(
        "--epochs", type=int, default=usual.epochs, help=f"passes over the data (default {usual.epochs})"
    )
    parser.add_argument("--batch", type=int, default=usual.batch, help=f"instances per batch (default {usual.batch})")
    parser.add_argument("--accumulate", type=int, default=1, help="batches per optimizer step (default 1)")
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed for initial weights, order, dropout, and sampling (default 0)"
    )


def add_prediction_arguments(parser: ArgumentParser) -> None:
    """Add the run that predicts, the files of Natural Questions, and the output file."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("data", nargs="+", metavar="DATA", help=DATA)
    parser.add_argument(
        "--to",
        required=True,
        type=Path,
        metavar="FILE",
        help="predictions file to write; running the command again resumes it",
    )


def predictions_text(found: Mapping[str, int], to: Path) -> str:
    """Return how many predictions there are, in words."""
    return f"{found['predictions']:,} predictions, {found['answered']:,} of them with an answer, in {to}"


def add_threads_argument(parser: ArgumentParser, usual: int = 0) -> None:
    """Add how many CPU threads are used."""
    parser.add_argument("--threads", type=int, default=usual, help=f"CPU threads (default {usual or 'one per core'})")


def files_of(named: list[str]) -> list[Path]:
    """Return the data files in folders of releases, and those that match patterns.

    Raises
    ------
    EvaluationError
        A folder has no data files, or a pattern matches nothing.
    """
    found: set[Path] = set()
    for name in named:
        if Path(name).is_dir():
            own = set(Path(name).glob("*.jsonl.gz")) | set(Path(name).glob("*.jsonl"))
            if not own:
                raise EvaluationError(f"{name}: has no file of records (*.jsonl.gz)")
            found |= own
        else:
            found |= matching_files(name)
    return sorted(found)
