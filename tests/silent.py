"""A server that takes connections and never answers, as one that was stopped."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def silent_server() -> Iterator[tuple[int, list[socket.socket]]]:
    """Yield its port on loopback, and the connections that it took."""
    came: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)

    def take() -> None:
        with suppress(OSError):
            while True:
                came.append(listener.accept()[0])

    threading.Thread(target=take, daemon=True).start()
    try:
        yield listener.getsockname()[1], came
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for one in came:
            one.close()
