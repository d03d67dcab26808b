"""The marketplace, platform and job worker of a run, as separate processes on free ports of this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from console.serving import (
    ROOT,
    any_port,
    marketplace_environment,
    run_child,
    start_child,
    stop_children,
    wait_until_up,
    web_command,
)

MANAGE = [sys.executable, str(ROOT / "manage.py")]
# Rounds, pulls and sweeps of seconds, where a campaign of weeks has minutes and hours.
PACE = {
    "MTURK_ROUND_SECONDS": "0.5",
    "MTURK_PULL_SECONDS": "0.5",
    "MTURK_RETRY_SECONDS": "1",
    "MTURK_REQUESTS_PER_SECOND": "0",
    "QUORATE_JOB_LEASE_SECONDS": "5",
    "MARKETPLACE_SWEEP_SECONDS": "0.5",
    "MTURK_GRACE_SECONDS": "30",
}
_HERTZ = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ports:
    """The ports of a run's platform and marketplace; a resumed run needs the same ports."""

    web: int = field(default_factory=any_port)
    market: int = field(default_factory=any_port)


class Ensemble:
    """The processes of a run, and methods to query them."""

    def __init__(self, name: str, ports: Ports, pace: Mapping[str, str]) -> None:
        self.name, self.ports = name, ports
        self.web_url = f"http://localhost:{ports.web}"
        self.market_url = f"http://worker.localhost:{ports.market}"
        self.market_environment = (
            marketplace_environment()
            | dict(pace)
            | {
                "MARKETPLACE_URL": self.market_url,
                "MARKETPLACE_CONTENT_URL": f"http://content.localhost:{ports.market}",
                "MARKETPLACE_API_URL": f"http://127.0.0.1:{ports.market}",
                "MARKETPLACE_WORKER_RATE": "1000000",
                "MARKETPLACE_API_RATE": "100000",
                "MARKETPLACE_DATABASE_URL": os.environ.get("MARKETPLACE_DATABASE_URL")
                or f"sqlite:///{settings.DATA_DIR}/{name}-marketplace.sqlite3",
            }
        )
        # People of a replay have no mailboxes, and what is printed is the report.
        self.environment: dict[str, str] = (
            os.environ | dict(pace) | {"PLATFORM_URL": self.web_url, "EMAIL_URL": "dummymail://"}
        )
        self.endpoint_url = ""
        self.children: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def worker(self) -> subprocess.Popen[bytes] | None:
        """The job worker; None before it is started."""
        return self.children.get("worker")

    def start_market(self, deposit: str) -> None:
        """Start the marketplace and open our account there with a deposit; an existing account is kept."""
        serving = [*MANAGE, "marketplace_serve", "--quiet", "--bind", f"127.0.0.1:{self.ports.market}"]
        self._start("marketplace", serving, self.market_environment, self.ports.market)
        requester = self._requester(deposit)
        self.endpoint_url = requester["endpoint_url"]
        self.environment |= {
            "MTURK_ENDPOINT_URL": self.endpoint_url,
            "MTURK_ACCESS_KEY_ID": requester["aws_access_key_id"],
            "MTURK_SUBMIT_URLS": self.market_url,
            "MTURK_SECRET_ACCESS_KEY": requester["aws_secret_access_key"],
            "MTURK_FRAME_SECRET": requester["frame_secret"],
        }

    def start_web(self) -> None:
        """Start the platform's web server."""
        self._start("web", web_command(f"127.0.0.1:{self.ports.web}"), self.environment, self.ports.web)

    def start_worker(self) -> None:
        """Start the job worker."""
        self.children["worker"] = start_child([*MANAGE, "worker", "--tick", "0.5"], self.environment)

    def market_command(self, *arguments: str) -> dict[str, Any]:
        """Run a command of the marketplace and return its JSON output.

        Raises
        ------
        RuntimeError
            The command failed.
        """
        done = run_child([*MANAGE, *arguments, "--json"], self.market_environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        made: dict[str, Any] = json.loads(done.stdout)
        return made

    def books(self, slug: str) -> dict[str, Any]:
        """Return the comparison of a campaign's ledger with the marketplace's."""
        done = run_child([*MANAGE, "reconcile", slug, "--json"], self.environment)
        found: dict[str, Any] = json.loads(done.stdout)
        account = self._requester("0")
        cents = {name: round(float(account[name]) * 100) for name in ("deposited", "available", "held", "paid", "fees")}
        return {**found, "account": cents}

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU seconds of each process and its children so far."""
        return {name: cpu_seconds_of(child.pid) for name, child in self.children.items() if child.poll() is None}

    def stop(self) -> None:
        """Stop the processes that were started here, and no others."""
        stop_children(list(self.children.values()))

    def _requester(self, deposit: str) -> dict[str, Any]:
        return self.market_command("marketplace_requester", self.name, "--deposit", deposit, "--sign-frames")

    def _start(self, name: str, command: list[str], environment: dict[str, str], port: int) -> None:
        self.children[name] = start_child(command, environment)
        wait_until_up(f"127.0.0.1:{port}", child=self.children[name])


@contextmanager
def ensemble_of(
    name: str, *, ports: Ports | None = None, deposit: str = "", pace: Mapping[str, str] = PACE
) -> Iterator[Ensemble]:
    """Start the platform's web server, and with a deposit also a marketplace; stop all processes afterwards.

    The caller starts the job worker when it is ready for it.
    """
    found = Ensemble(name, ports or Ports(), pace)
    try:
        if deposit:
            found.start_market(deposit)
        found.start_web()
        yield found
    finally:
        found.stop()


def cpu_seconds_of(pid: int) -> float:
    """Return the CPU seconds of a process and its children, living and ended; 0 if the system can't report them."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(int(value) for value in fields[11:15]) / _HERTZ + sum(cpu_seconds_of(int(child)) for child in children)
