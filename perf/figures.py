"""The figures of a measurement, as the summary (``python -m perf``) reads them."""

import json
from typing import Any

MARK = "FIGURES "


def figures(**rows: Any) -> None:
    """Print some rows of the summary."""
    print(f"{MARK}{json.dumps(rows)}", flush=True)
