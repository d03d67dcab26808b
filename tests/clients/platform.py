"""A platform as real processes, with a database of its own."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
BOSS = "boss@example.org"
SCOPES = ("read", "import", "manage", "release", "judge")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Platform:
    """The web server and the worker of `manage.py serve`, with a database of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.process = folder, None
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{self.address}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("QUORATE_SHARED", "REDIS_URL")},
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "QUORATE_DATA": str(folder),
            "DATABASE_URL": f"sqlite:///{folder}/quorate.sqlite3",
            "PLATFORM_URL": self.url,
            "CELERY_BROKER_URL": "",
            "QUORATE_JOB_LEASE_SECONDS": "5",
            "QUORATE_API_REQUESTS_PER_MINUTE": "100000",
        }

    def manage(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env={**self.environment, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    def start(self) -> None:
        with (self.folder / "log").open("a") as log:
            command = [sys.executable, str(ROOT / "manage.py"), "serve", "--bind", self.address]
            self.process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stdout=log, stderr=log)
        wait_for(self.is_ready, 300)

    def is_ready(self) -> bool:
        try:
            return urllib.request.urlopen(f"{self.url}/readyz", timeout=10).status == 200
        except OSError:
            return False

    def children(self, *words: str) -> list[int]:
        """Return the processes below the supervisor whose command lines have all of these words."""
        found, queue = [], [self.process.pid]
        while queue:
            pid = queue.pop()
            try:
                queue += [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except FileNotFoundError:
                continue
            if pid != self.process.pid and all(word in command for word in words):
                found.append(pid)
        return found

    def kill(self, *words: str) -> None:
        pids = self.children(*words)
        assert pids, words
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def set_up(self) -> None:
        """Make the database, with an administrator."""
        self.manage("migrate")
        self.manage("createsuperuser", "--noinput", "--email", BOSS, DJANGO_SUPERUSER_PASSWORD="correct horse battery")

    def token(self) -> str:
        """Create an administrator's token."""
        return self.manage("api_tokens", BOSS, "--create", "test", *(f"--scope={one}" for one in SCOPES)).strip()
