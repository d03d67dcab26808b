"""Metrics and their intervals as readable lines."""

from collections.abc import Mapping, Sequence


def metric_lines(metrics: Mapping[str, float], intervals: Mapping[str, Sequence[float]], width: int = 16) -> list[str]:
    """Return a line for each metric."""
    lines = []
    for name, value in metrics.items():
        interval = intervals.get(name)
        between = f"   95%: {interval[0]:.4f} to {interval[1]:.4f}" if interval else ""
        lines.append(f"  {name:<{width}} {value:.4f}{between}")
    return lines
