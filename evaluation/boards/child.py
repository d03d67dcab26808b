"""Score an uploaded file in a process of its own, with limits: who uploads is believed nothing.

``python -m evaluation.boards.child METRIC GOLD PREDICTIONS OPTIONS`` writes one JSON object: ``score`` and ``values``, the
``floor`` of both, or ``error``, a sentence for who uploaded.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from documents.child import child_end, child_start, limit_memory
from evaluation.boards.ladder import Scored
from evaluation.files import EvaluationError

MOST_BYTES = 3 * 2**30  # of addresses: numpy alone reserves some
MOST_SECONDS = 300


def score_apart(
    metric: str, *, gold: Path, predictions: Path, name: str, options: dict[str, Any]
) -> tuple[Scored, Scored]:
    """Return the score of a file and the floor.

    Parameters
    ----------
    name
        What the person called the file, for messages.

    Raises
    ------
    EvaluationError
        The file cannot be scored.
    """
    child = child_start("evaluation.boards.child", metric, str(gold), str(predictions), orjson.dumps(options).decode())
    try:
        out, _nothing = child.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise EvaluationError(f"{name}: takes more than {MOST_SECONDS} seconds to score") from error
    finally:
        child_end(child)
    if not out:
        raise EvaluationError(f"{name}: cannot be read, or takes more memory than allowed")
    found = orjson.loads(out)
    if "error" in found:
        raise EvaluationError(found["error"].replace(str(predictions), name))
    return Scored(*found["scored"]), Scored(*found["floor"])


def _serve(metric: str, gold: str, predictions: str, options: str) -> bytes:
    from evaluation.boards.metrics import METRICS  # noqa: PLC0415  after the limit

    try:
        labels = orjson.loads(Path(gold).read_bytes())
        scored = METRICS[metric].score(Path(predictions), labels, orjson.loads(options))
        floor = METRICS[metric].floor(labels)
    except EvaluationError as error:
        return orjson.dumps({"error": str(error)})
    except MemoryError:
        return b""
    return orjson.dumps({"scored": (scored.score, scored.values), "floor": (floor.score, floor.values)})


if __name__ == "__main__":
    limit_memory(MOST_BYTES)
    sys.stdout.buffer.write(_serve(*sys.argv[1:5]))
