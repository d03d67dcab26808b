"""Human performance on the examples that a system answers, and the system by the same measure (sections 5.1, 5.2)."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from evaluation.nq.answers import NONE, Gold, Prediction, is_same
from evaluation.nq.scores import Example, Scored, is_said, is_short

REFERENCES = 5
PARTITIONS = 1_000


class TooFewAnnotations(ValueError):
    """The examples differ in their number of annotations, or don't have more annotations than references."""


def human_bounds(
    gold: Mapping[int, Sequence[Gold]],
    predictions: Mapping[int, Prediction],
    examples: Sequence[Example],
    least: Mapping[str, float],
    *,
    betas: Mapping[str, int],
    references: int = REFERENCES,
    seed: int = 0,
) -> dict[str, Any]:
    """Return precision, recall and F1 of one annotator, the super-annotator and the system, by kind of answer.

    Each partition draws ``references`` annotations of an example at random as references. People predict from the other
    annotations, and the system predicts at its best threshold. If a file has more annotations than references, the
    system's numbers differ from the official ones.

    Parameters
    ----------
    least
        The lowest score at which the system's answer is used, by kind.
    betas
        The number of references with an answer that make an example answerable, by kind.

    Raises
    ------
    TooFewAnnotations
    """
    from measures.studies import as_json, bounds, usual_alpha  # noqa: PLC0415  numpy, which scores do not need

    ways = {len(rows) for rows in gold.values()}
    if len(ways) != 1 or min(ways) <= references:
        raise TooFewAnnotations(
            f"what people reach is computed of examples with as many annotations each, more than {references}: these have "
            f"{', '.join(map(str, sorted(ways)[:5]))}"
        )
    found = {}
    for kind in ("long", "short"):
        keyed = [_keyed(kind, gold[one.example_id], predictions[one.example_id], one, least[kind]) for one in examples]
        found[kind] = as_json(
            bounds(
                [people for people, _system in keyed],
                system=[system for _people, system in keyed],
                references=references,
                beta=betas[kind],
                alpha=usual_alpha(min(ways) - references),
                partitions=PARTITIONS,
                seed=seed,
            )
        )
    return {"annotations": min(ways), "references": references, **found}


def _keyed(
    kind: str, rows: Sequence[Gold], prediction: Prediction, one: Example, least: float
) -> tuple[list[Hashable], Hashable]:
    """Return the annotators' answers and the system's answer (None for null) as comparable values."""
    scored: Scored = getattr(one, kind)
    people: list[Hashable] = [_long(row) if kind == "long" else _short(row) for row in rows]
    if not is_said(scored, least):
        return people, None
    same = _says_long if kind == "long" else is_short
    return people, next((key for row, key in zip(rows, people, strict=True) if same(row, prediction)), "another answer")


def _long(row: Gold) -> Hashable:
    return row.long


def _short(row: Gold) -> Hashable:
    if row.yes_no != NONE:
        return row.yes_no
    return frozenset(row.shorts) or None


def _says_long(row: Gold, prediction: Prediction) -> bool:
    return row.long is not None and prediction.long is not None and is_same(row.long, prediction.long)
