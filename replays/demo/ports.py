"""The ports of the demo: chosen once and kept, since tasks at its marketplace open at the platform's address."""

import json
import socket
from pathlib import Path

from console.serving import held_port

PLATFORM, MARKETPLACE = "platform", "marketplace"
FIRST = {PLATFORM: 8000, MARKETPLACE: 8100}


class PortTaken(OSError):
    """Another program listens on a port that this demo needs."""


class DemoPorts:
    """The two ports, held against others from when they are chosen until `release`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
        self._held: list[socket.socket] = []

    def hold(self, name: str) -> int:
        """Return the port that was chosen the first time, or choose one.

        Raises
        ------
        PortTaken
            The one that was chosen is in use.
        """
        kept = self._kept.get(name)
        holder = held_port(kept or FIRST[name])
        self._held.append(holder)
        port = int(holder.getsockname()[1])
        if kept not in (None, port):
            self.release()
            raise PortTaken(
                f"port {kept} is in use, and tasks that this demo posted open there: stop what uses it, or serve the "
                "platform elsewhere by --bind (then those tasks cannot be opened)"
            )
        self.keep(name, port)
        return port

    def keep(self, name: str, port: int) -> None:
        """Remember a port that was chosen."""
        self._kept[name] = port
        self._file.write_text(json.dumps(self._kept))

    def release(self) -> None:
        """Let the servers have the ports."""
        for holder in self._held:
            holder.close()
