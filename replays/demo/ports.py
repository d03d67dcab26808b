"""The ports of the demo: chosen once and stored, since tasks at its marketplace contain the platform's address."""

import json
import socket
from pathlib import Path

from console.serving import listener_at, listener_from

PLATFORM, MARKETPLACE = "platform", "marketplace"
FIRST = {PLATFORM: 8000, MARKETPLACE: 8100}


class PortTaken(OSError):
    """Another program uses a port that this demo needs."""


class DemoPorts:
    """The two ports, each reserved by a socket from its choice until the end of the demo."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}

    def hold(self, name: str) -> socket.socket:
        """Return a socket that listens on the stored port; without a stored port, choose one.

        Raises
        ------
        PortTaken
            The stored port is in use.
        """
        kept = self._kept.get(name)
        try:
            listener = listener_at(f"127.0.0.1:{kept}") if kept else listener_from(FIRST[name])
        except OSError as error:
            if kept is None:
                raise
            raise PortTaken(
                f"port {kept} is in use, and tasks that this demo posted open there: stop what uses it, or serve the "
                "platform elsewhere by --bind (then those tasks cannot be opened)"
            ) from error
        self.keep(name, port_of(listener))
        return listener

    def keep(self, name: str, port: int) -> None:
        """Store a chosen port."""
        self._kept[name] = port
        self._file.write_text(json.dumps(self._kept))


def port_of(listener: socket.socket) -> int:
    """Return the port of a listening socket."""
    return int(listener.getsockname()[1])
