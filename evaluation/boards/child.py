"""Score an uploaded file in a separate process with limits, because uploaded files aren't trusted.

``python -m evaluation.boards.child METRIC PREDICTIONS OPTIONS`` reads the labels from standard input, so that they are in no
file that a killed worker could leave behind. It writes one JSON object: ``scored`` and ``floor``, the fields of both, or
``error``, a sentence for the person who uploaded.
"""

import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from evaluation.boards.ladder import Scored
from evaluation.files import EvaluationError
from storage.child import child_end, child_start, limit_memory

MOST_BYTES = 3 * 2**30  # of addresses: numpy alone reserves some
MOST_SECONDS = 300


def score_apart(
    metric: str, *, gold: bytes, predictions: Path, name: str, options: dict[str, Any]
) -> tuple[Scored, Scored]:
    """Return the score of a file and the floor, computed in a separate process.

    Parameters
    ----------
    name
        The name that the person gave the file, for messages.

    Raises
    ------
    EvaluationError
        The file cannot be scored.
    """
    child = child_start("evaluation.boards.child", metric, str(predictions), orjson.dumps(options).decode())
    try:
        out, _nothing = child.communicate(gold, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise EvaluationError(f"{name}: takes more than {MOST_SECONDS} seconds to score") from error
    finally:
        child_end(child)
    if not out:
        raise EvaluationError(f"{name}: can't be read, or needs more memory than allowed")
    found = orjson.loads(out)
    if "error" in found:
        raise EvaluationError(found["error"].replace(str(predictions), name))
    return Scored(**found["scored"]), Scored(**found["floor"])


def _serve(metric: str, predictions: str, options: str) -> bytes:
    from evaluation.boards.metrics import METRICS  # noqa: PLC0415  after the limit

    try:
        labels = orjson.loads(sys.stdin.buffer.read())
        scored = METRICS[metric].score(Path(predictions), labels, orjson.loads(options))
        floor = METRICS[metric].floor(labels)
    except EvaluationError as error:
        return orjson.dumps({"error": str(error)})
    except MemoryError:
        return b""
    return orjson.dumps({"scored": asdict(scored), "floor": asdict(floor)})


if __name__ == "__main__":
    limit_memory(MOST_BYTES)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))  # also when the waiting process was killed
    sys.stdout.buffer.write(_serve(*sys.argv[1:4]))
