"""Signal receivers that are imported on first use, so that a command loads only the modules it needs."""

from collections.abc import Callable
from typing import Any

from django.dispatch import Signal
from django.utils.module_loading import import_string


def receive(signal: Signal, path: str) -> None:
    """Connect a signal to the function at a dotted path, which is imported when the signal is first sent."""
    signal.connect(_deferred(path), dispatch_uid=path, weak=False)


def _deferred(path: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return import_string(path)(*args, **kwargs)

    return call
