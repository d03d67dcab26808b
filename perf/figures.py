"""The figures of a measurement, as the summary (``python -m perf``) reads them."""

import json
import resource
import time
from collections.abc import Callable
from typing import Any

MARK = "FIGURES "


def figures(**rows: Any) -> None:
    """Print some rows of the summary."""
    print(f"{MARK}{json.dumps(rows)}", flush=True)


def cpu() -> list[float]:
    """Return the CPU seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [one.ru_utime + one.ru_stime for one in used]


def measured(name: str, act: Callable[[], Any]) -> dict[str, float]:
    """Run something; print and return what it cost."""
    before, begun = cpu(), time.perf_counter()
    act()
    own, child = (round(after - earlier, 2) for after, earlier in zip(cpu(), before, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = round(time.perf_counter() - begun, 2)
    found = {"seconds": seconds, "cpu": own, "cpu_reader": child, "peak_mb": peak}
    print(json.dumps({name: found}), flush=True)
    figures(**{f"{name}, s": seconds, f"{name}, CPU s": round(own + child, 2), "peak MB": peak})
    return found
