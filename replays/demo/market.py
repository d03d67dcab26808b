"""The marketplace's part of the demo: a separate service, so the demo runs that service's own command."""

import json
import subprocess
import sys
from typing import Any

from console.serving import ROOT, marketplace_environment


def seed_marketplace(*, port: int) -> dict[str, Any]:
    """Fill the marketplace's database and return its addresses and logins.

    Raises
    ------
    RuntimeError
        The command failed; the message is what it printed.
    """
    result = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, str(ROOT / "manage.py"), "marketplace_demo", "--port", str(port), "--json"],
        cwd=ROOT,
        env=marketplace_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(result.stderr)
    made: dict[str, Any] = json.loads(result.stdout)
    return made


def market_settings(market: dict[str, Any], *, platform_url: str) -> dict[str, str]:
    """Return the platform's settings for the demo's marketplace."""
    return {
        "PLATFORM_URL": platform_url,
        "MTURK_ENDPOINT_URL": market["endpoint_url"],
        "MTURK_ACCESS_KEY_ID": market["aws_access_key_id"],
        "MTURK_SECRET_ACCESS_KEY": market["aws_secret_access_key"],
        "MTURK_FRAME_SECRET": market["frame_secret"],
        "MTURK_SUBMIT_URLS": market["workers_url"].rstrip("/"),
        "MTURK_ROUND_SECONDS": "5",
        "MTURK_PULL_SECONDS": "5",
    }
