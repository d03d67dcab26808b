"""Running web, worker and (in the demo) the marketplace as child processes that may be killed at any time."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from storage.child import end_with

ROOT = Path(__file__).resolve().parents[1]
_RESTART_SECONDS = 1.0
_PATIENCE_SECONDS = 300  # with a server whose process lives: a busy machine takes long to start one


def add_serving_arguments(parser: CommandParser) -> None:
    """Add the arguments that both commands have."""
    parser.add_argument(
        "--bind",
        default="",
        metavar="HOST:PORT",
        help="address to listen on (default 127.0.0.1:8000, or the next free port)",
    )


def prepare(call_command: Callable[..., Any]) -> None:
    """Bring database, cache table and static files up to date."""
    Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("createcachetable", verbosity=0)
    if not settings.DEBUG:
        call_command("collectstatic", verbosity=0, interactive=False)


def serve(
    *,
    listener: socket.socket,
    ready: Callable[[str], None],
    marketplace: socket.socket | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run web and worker (and the marketplace, if requested) until a signal arrives; restart each one that dies.

    The sockets stay open here and are inherited, so no other program can take a port while a server restarts.
    """
    address = address_of(listener)
    manage = [sys.executable, str(ROOT / "manage.py")]
    ours = {"PLATFORM_URL": f"http://{address}", **os.environ, **(environment or {})}
    commands: dict[str, tuple[list[str], Mapping[str, str], tuple[int, ...]]] = {
        "web": (web_command(f"fd://{listener.fileno()}"), ours, (listener.fileno(),)),
        "worker": ([*manage, "worker"], ours, ()),
    }
    addresses = {"web": address}
    if marketplace:
        serving = [*manage, "marketplace_serve", "--quiet", "--bind", f"fd://{marketplace.fileno()}"]
        commands["marketplace"] = (serving, marketplace_environment(), (marketplace.fileno(),))
        addresses["marketplace"] = address_of(marketplace)
    children = {name: start_child(*command) for name, command in commands.items()}
    stopping: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: stopping.append(received))
    try:
        for name, one in addresses.items():
            wait_until_up(one, stopping, children[name])
        ready(f"http://{address}/")
        while not stopping:
            for name, child in children.items():
                if child.poll() is not None and not stopping:
                    sys.stderr.write(f"{name} ended ({child.returncode}); starting it again\n")
                    time.sleep(_RESTART_SECONDS)
                    children[name] = start_child(*commands[name])
            time.sleep(0.2)
    finally:
        stop_children(list(children.values()))


def stop_children(children: list[subprocess.Popen[bytes]]) -> None:
    """End processes that were started here, and wait for them."""
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(timeout=15)
        except subprocess.TimeoutExpired:
            child.kill()


def web_command(address: str) -> list[str]:
    """Return the command that serves the platform at HOST:PORT, or on an inherited socket, ``fd://NUMBER``."""
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "config.wsgi:application",
        "--bind",
        address,
        "--worker-class",
        "gthread",
        "--workers",
        "2",
        "--threads",
        "8",
        "--no-control-socket",
        "--log-level",
        "warning",
        "--max-requests",
        "20000",
        "--timeout",
        "120",
    ]


def marketplace_environment() -> dict[str, str]:
    """Return the environment of the demo's marketplace: a database of its own, and its development switches on."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SECRET_KEY")}
    return kept | {"MARKETPLACE_DEVELOPMENT": "1", "MARKETPLACE_OPEN_SIGNUP": "1"}


def start_child(
    command: list[str], environment: Mapping[str, str], inherited: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a process that ends when this one does; it inherits these file descriptors."""
    return subprocess.Popen(  # noqa: S603  our own commands
        command,
        cwd=ROOT,
        env=environment,
        pass_fds=inherited,
        preexec_fn=partial(end_with, os.getpid()),  # noqa: PLW1509
    )


def run_child(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a process until it ends and return its output; it is stopped when this process ends."""
    return subprocess.run(  # noqa: S603  our own commands
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        preexec_fn=partial(end_with, os.getpid()),
    )


def free_port(first: int) -> int:
    """Return the first free port, starting at ``first``."""
    for port in range(first, first + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port between {first} and {first + 99}")


def listener_from(first: int) -> socket.socket:
    """Return a socket that listens on the first free port, starting at ``first``."""
    for port in range(first, first + 100):
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            continue
    raise OSError(f"no free port between {first} and {first + 99}")


def listener_at(bind: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT.

    Raises
    ------
    OSError
        The text isn't an address, or something else listens there.
    """
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal():
        raise OSError(f"--bind takes HOST:PORT such as 127.0.0.1:8000, not {bind!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), int(port)), family=family)
    except (OSError, OverflowError) as error:
        raise OSError(f"--bind {bind}: {error}; check whether another program uses this port") from error


def address_of(listener: socket.socket) -> str:
    """Return HOST:PORT of a socket that listens."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def any_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(address: str, stopping: Sequence[int] = (), child: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a server answers, or until a signal arrives.

    Raises
    ------
    OSError
        It didn't answer in time, or its process ended; another program may answer at that address.
    """
    until = time.monotonic() + (_PATIENCE_SECONDS if child is not None else 30)
    while time.monotonic() < until:
        if child is not None and child.poll() is not None:
            raise OSError(f"the server at {address} ended ({child.returncode}): is another one there already?")
        try:
            urllib.request.urlopen(f"http://{address}/healthz", timeout=2).close()
        except OSError:
            if stopping:
                return
            time.sleep(0.1)
        else:
            return
    raise OSError(f"the web server did not answer on {address}")
