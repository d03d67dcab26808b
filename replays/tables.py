"""Reports as Markdown: tables of a replay next to its paper's."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(shown, row))} |" for row in rows]
    return "\n".join(lines)


def shown(value: Any) -> str:
    """Return a value as text for a report."""
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 10 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def share(part: float, of: float) -> str:
    """Return a share in percent; a dash if the total is zero."""
    return f"{100 * part / of:.1f}%" if of else "–"


def opening(report: dict[str, Any], title: str, what: str) -> str:
    """Return the beginning of every report: the title, the command to repeat it, and the machine."""
    on = report["machine"]
    return (
        f"# {title}, scale {report['scale']:g}\n\n{what} **Everything in it is synthetic.**\n\n"
        f"`{report['command']}` ({report['at']}; {on['cores']} cores, {on['database']}, Python {on['python']})\n"
    )


def profile(report: dict[str, Any], per: int, unit: str) -> str:
    """Return the time profile: phases by the clock, processes by CPU in total and per piece of work."""
    phases = table(["phase", "seconds"], report["seconds"].items())
    used = table(
        ["process", "CPU seconds", f"CPU ms {unit}"],
        [(name, value, round(1000 * value / max(per, 1), 1)) for name, value in report["cpu seconds"].items()],
    )
    again = (
        ""
        if report["attempts"] == 1
        else f"\n\nIn {report['attempts']} attempts: of those that were killed, nothing but finished phases is in these figures."
    )
    return f"## Where the time went\n\n{phases}\n\n{used}{again}\n"
