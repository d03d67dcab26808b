"""Prediction files for the official evaluation of Natural Questions; an interrupted call can be resumed."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from baselines.nq.examples import Example, read_examples
from baselines.runs import WEIGHTS, sha256_of

SAID_EVERY = 20
NO_SCORE = -10_000.0  # of a page without passages
Prediction = dict[str, Any]
Tokens = tuple[int, int]


def predictions_write(
    to: Path,
    files: Sequence[Path],
    predict: Callable[[Example], Prediction],
    *,
    run: Path,
    options: Mapping[str, Any] | None = None,
    say: Callable[[str], object],
) -> dict[str, int]:
    """Write a run's predictions for files; return how many there are, and how many have an answer.

    The file records its inputs. A call with the same run, files and options keeps the file. If an earlier call was
    interrupted, it continues with that call's predictions, which are stored beside ``to`` until all are complete.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    asked = {
        "files": [sha256_of(path) for path in sorted(files)],
        "weights": sha256_of(run / WEIGHTS),
        "options": dict(options or {}),
    }
    if to.exists() and (made := _made(to)).get("made_from") == asked:
        return _counted(made["predictions"])
    part = to.with_name(f"{to.name}.part")
    kept = _kept(part, asked)
    with part.open("ab") as file:
        if not kept:
            file.write(orjson.dumps(asked) + b"\n")
        for number, example in enumerate(read_examples(files), 1):
            if number > len(kept):
                kept.append(predict(example))
                file.write(orjson.dumps(kept[-1]) + b"\n")
                file.flush()
                if number % SAID_EVERY == 0:
                    say(f"{number:,} pages")
    whole = to.with_name(f"{to.name}.whole")
    whole.write_text(json.dumps({"predictions": kept, "made_from": asked}), encoding="utf-8")
    whole.replace(to)
    part.unlink()
    return _counted(kept)


def _made(path: Path) -> dict[str, Any]:
    """Return the predictions in a file; nothing if the file holds something else."""
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _counted(predictions: Sequence[Prediction]) -> dict[str, int]:
    answered = sum(one["long_answer"]["start_token"] >= 0 for one in predictions)
    return {"predictions": len(predictions), "answered": answered}


def _kept(part: Path, asked: dict[str, Any]) -> list[Prediction]:
    """Return the predictions of an interrupted call with the same inputs; a truncated line is predicted again."""
    if not part.exists():
        return []
    lines = part.read_bytes().split(b"\n")
    whole = lines[:-1]
    if not whole or orjson.loads(whole[0]) != asked:
        part.unlink()
        return []
    part.write_bytes(b"".join(line + b"\n" for line in whole))
    return [orjson.loads(line) for line in whole[1:]]


def prediction(
    example: Example,
    long: Tokens | None,
    shorts: Sequence[Tokens],
    *,
    long_score: float,
    short_score: float,
    yes_no: str = "NONE",
) -> Prediction:
    """Return a prediction; answers are half-open ranges of tokens."""
    return {
        "example_id": example.example_id,
        "long_answer": _answer(example, long),
        "long_answer_score": long_score,
        "short_answers": [_answer(example, one) for one in shorts] or [_answer(example, None)],
        "short_answers_score": short_score,
        "yes_no_answer": yes_no,
    }


def no_answer(example: Example) -> Prediction:
    """Return the prediction that a page has no answer."""
    return prediction(example, None, [], long_score=NO_SCORE, short_score=NO_SCORE)


def _answer(example: Example, tokens: Tokens | None) -> dict[str, int]:
    (start, end), (low, high) = (tokens, example.bytes_of(*tokens)) if tokens else ((-1, -1), (-1, -1))
    return {"start_token": start, "end_token": end, "start_byte": low, "end_byte": high}
