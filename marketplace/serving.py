"""The marketplace in one process: gunicorn, with a sweeping thread in each worker."""

from typing import Any

from django.core.wsgi import get_wsgi_application
from gunicorn.app.base import BaseApplication

from marketplace.services.sweep import sweep_in_background
from web.telemetry import telemetry_start


class Server(BaseApplication):  # type: ignore[misc]  # untyped library
    """A gunicorn application configured from Python."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Pass the options to gunicorn."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the application."""
        telemetry_start()
        return get_wsgi_application()


def serve(*, bind: str, threads: int, workers: int, quiet: bool) -> None:
    """Serve until a signal arrives."""
    Server(
        {
            "bind": bind,
            "worker_class": "gthread",
            "workers": workers,
            "threads": threads,
            "timeout": 120,
            "control_socket_disable": True,
            "loglevel": "error" if quiet else "warning",
            "post_worker_init": lambda _worker: sweep_in_background(),
        }
    ).run()
