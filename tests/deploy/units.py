"""What systemd does for the kit, for a test: starts and stops units as their files say, and holds sockets.

Sandboxing and users are left to systemd (`systemd-analyze verify` reads them); the rest is taken from the files.
"""

import os
import re
import shlex
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

START_SECONDS = 120


class Units:
    """The units of a folder, with the processes and sockets of those that are started."""

    def __init__(self, folder, rewritten, log):
        self.folder, self.rewritten, self.log = Path(folder), rewritten, log
        self.sockets, self.processes, self.enabled = {}, {}, set()

    def start(self, name):
        name = name if "." in name else f"{name}.service"
        if name.endswith(".timer"):
            self._read(name)
        elif name.endswith(".socket"):
            if name not in self.sockets:
                self.sockets[name] = _listening(_one(self._read(name), "ListenStream"))
        elif not self.is_active(name):
            self._run(name)

    def stop(self, name):
        process = self.processes.pop(name if "." in name else f"{name}.service", None)
        if process is not None and process.poll() is None:
            process.terminate()  # KillMode=mixed: the main process first
            try:
                process.wait(int(_one(self._read(name), "TimeoutStopSec", "90")))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def restart(self, name):
        self.stop(name)
        self.start(name)

    def is_active(self, name):
        name = name if "." in name else f"{name}.service"
        return name in self.sockets or (name in self.processes and self.processes[name].poll() is None)

    def stop_all(self):
        for name in [*self.processes]:
            self.stop(name)
        for one in self.sockets.values():
            one.close()

    def _run(self, name):
        unit = self._read(name)
        socket_name = name.replace(".service", ".socket")
        if "Requires" in unit and socket_name in _one(unit, "Requires"):
            self.start(socket_name)
        environment = self._environment(unit)
        command = shlex.split(_expanded(_one(unit, "ExecStart"), environment))
        passed = ()
        if (held := self.sockets.get(socket_name)) is not None:
            # The process that listens must be named; a shell becomes it.
            number = held.fileno()
            command = ["bash", "-c", f'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&{number}', "bash", *command]
            passed = (number,)
        kind = _one(unit, "Type", "simple")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            if kind == "notify":
                path = self.folder / f"notify-{len(self.processes)}-{time.monotonic_ns()}"
                notified.bind(str(path))
                notified.settimeout(1)
                environment["NOTIFY_SOCKET"] = str(path)
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=_one(unit, "WorkingDirectory"),
                pass_fds=passed,
                stdout=self.log,
                stderr=self.log,
                start_new_session=True,
            )
            if kind == "oneshot":
                code = process.wait(START_SECONDS)
                assert code == 0, f"{name} ended with {code}"
                return
            self.processes[name] = process
            if kind == "notify":
                _wait_until_ready(name, process, notified)

    def _environment(self, unit):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", *_DATABASE) if name in os.environ}
        for line in unit.get("Environment", []):
            kept |= dict([line.split("=", 1)])
        for path in unit.get("EnvironmentFile", []):
            lines = (line for line in Path(path).read_text().splitlines() if line and not line.startswith("#"))
            kept |= dict(line.split("=", 1) for line in lines)
        for folder in ("StateDirectory", "RuntimeDirectory"):
            place = {"StateDirectory": "/var/lib/", "RuntimeDirectory": "/run/"}[folder]
            for value in unit.get(folder, []):
                Path(self.rewritten(f"{place}{value}")).mkdir(parents=True, exist_ok=True)
        return kept

    def _read(self, name):
        """Return the settings of a unit, each with all its values; ``worker@bulk`` is its template with ``%i``."""
        name = name if "." in name else f"{name}.service"
        stem, at, instance = name.rpartition(".")[0].partition("@")
        path = self.folder / (f"{stem}@.{name.rpartition('.')[2]}" if at else name)
        found = {}
        for line in path.read_text().replace("%i", instance).replace("%%", "%").splitlines():
            if "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                found.setdefault(key, []).append(self.rewritten(value))
        return found


def _wait_until_ready(name, process, notified):
    """Wait for the notification of a service; fail if it ends before, as systemd does."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(TimeoutError):
            if b"READY=1" in notified.recv(4096):
                return
        assert process.poll() is None, f"{name} ended with {process.returncode}"
    raise AssertionError(f"{name} isn't ready after {START_SECONDS} s")


_DATABASE = ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "SSL_CERT_FILE")


def _one(unit, key, default=None):
    return unit.get(key, [default])[-1]


def _expanded(text, environment):
    return re.sub(r"\$\{(\w+)\}", lambda found: environment[found[1]], text)


def _listening(address):
    if address.startswith("/"):
        made = socket.socket(socket.AF_UNIX)
        made.bind(address)
    else:
        host, _, port = address.rpartition(":")
        made = socket.create_server((host, int(port)))
    made.listen(2048)
    return made
