"""The available replays, and the contents of every report."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from replays import antique, antique_report, nlpcc, nlpcc_report, nq, nq_report, target, target_report
from replays.base import Asked, Replay, State, machine

REPLAYS: dict[str, tuple[Replay, Callable[[dict[str, Any]], str]]] = {
    "antique": (antique.replay, antique_report.rendered),
    "nq": (nq.replay, nq_report.rendered),
    "nlpcc": (nlpcc.replay, nlpcc_report.rendered),
    "target": (target.replay, target_report.rendered),
}


def report_of(asked: Asked, state: State, figures: dict[str, Any]) -> dict[str, Any]:
    """Return a report: the command to repeat the replay, the machine, the time of each phase, and the figures."""
    return {
        "command": f"manage.py replay {asked.kind} --scale {asked.scale:g} --seed {asked.seed}",
        "kind": asked.kind,
        "scale": asked.scale,
        "seed": asked.seed,
        "at": f"{timezone.now():%Y-%m-%d}",
        "machine": machine(),
        "attempts": state.attempts,
        "seconds": {name: round(value, 1) for name, value in state.seconds.items()},
        "cpu seconds": {name: round(value, 1) for name, value in state.cpu.items()},
        "counts": {name: round(value, 1) for name, value in state.counts.items()},
        **figures,
    }
